package fewest.maven;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Just enough JSON for the request and the answer: objects as maps, arrays as lists, strings,
 * integers, booleans and null. The outermost object is written with one member to a line, so that a
 * person can read it.
 */
final class Json {
    private final String text;
    private int position;

    private Json(String text) {
        this.text = text;
    }

    static String write(Map<String, Object> members) {
        StringBuilder out = new StringBuilder("{\n");
        Iterator<Map.Entry<String, Object>> entries = members.entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry<String, Object> entry = entries.next();
            writeString(entry.getKey(), out);
            writeValue(entry.getValue(), out.append(": "));
            out.append(entries.hasNext() ? ",\n" : "\n");
        }
        return out.append("}\n").toString();
    }

    private static void writeValue(Object value, StringBuilder out) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof Map) {
            String separator = "{";
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                writeString(entry.getKey().toString(), out.append(separator));
                writeValue(entry.getValue(), out.append(": "));
                separator = ", ";
            }
            out.append(separator.equals("{") ? "{}" : "}");
        } else if (value instanceof Iterable) {
            String separator = "[";
            for (Object element : (Iterable<?>) value) {
                writeValue(element, out.append(separator));
                separator = ", ";
            }
            out.append(separator.equals("[") ? "[]" : "]");
        } else {
            writeString(value.toString(), out);
        }
    }

    private static void writeString(String string, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < string.length(); i++) {
            char c = string.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                // Surrogates are escaped too, because a lone one has no form in UTF-8.
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    static Map<?, ?> readObject(String text) {
        Json json = new Json(text);
        Object value = json.readValue();
        if (!(value instanceof Map) || json.peek() != '\0') {
            throw json.error("one object expected");
        }
        return (Map<?, ?>) value;
    }

    private Object readValue() {
        switch (peek()) {
            case '{':
                return readMembers();
            case '[':
                return readElements();
            case '"':
                return readString();
            default:
                return readWord();
        }
    }

    private Map<String, Object> readMembers() {
        Map<String, Object> members = new LinkedHashMap<>();
        for (char next = open('}'); next != '}'; next = close('}')) {
            peek();
            String key = readString();
            expect(':');
            members.put(key, readValue());
        }
        return members;
    }

    private List<Object> readElements() {
        List<Object> elements = new ArrayList<>();
        for (char next = open(']'); next != ']'; next = close(']')) {
            elements.add(readValue());
        }
        return elements;
    }

    /** Steps over the opening bracket, and over the closing one if nothing is between them. */
    private char open(char end) {
        position++;
        if (peek() == end) {
            position++;
            return end;
        }
        return ',';
    }

    /** Steps over a comma or the closing bracket, and tells which it was. */
    private char close(char end) {
        char next = peek();
        if (next != ',' && next != end) {
            throw error("comma or " + end + " expected");
        }
        position++;
        return next;
    }

    private String readString() {
        expect('"');
        StringBuilder out = new StringBuilder();
        for (char c = take(); c != '"'; c = take()) {
            out.append(c == '\\' ? readEscape() : c);
        }
        return out.toString();
    }

    private char readEscape() {
        char c = take();
        switch (c) {
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'u':
                position += 4;
                if (position > text.length()) {
                    throw error("text ends within an escape");
                }
                return (char) Integer.parseInt(text.substring(position - 4, position), 16);
            default:
                return c;
        }
    }

    private Object readWord() {
        int start = position;
        while (position < text.length() && isWordPart(text.charAt(position))) {
            position++;
        }
        String word = text.substring(start, position);
        switch (word) {
            case "null":
                return null;
            case "true":
                return true;
            case "false":
                return false;
            default:
                return Long.valueOf(word);
        }
    }

    private static boolean isWordPart(char c) {
        return Character.isLetterOrDigit(c) || c == '-';
    }

    private void expect(char wanted) {
        if (peek() != wanted) {
            throw error(wanted + " expected");
        }
        position++;
    }

    /** The next character that is no blank, or NUL at the end. */
    private char peek() {
        while (position < text.length() && text.charAt(position) <= ' ') {
            position++;
        }
        return position < text.length() ? text.charAt(position) : '\0';
    }

    private char take() {
        if (position >= text.length()) {
            throw error("text ends within a string");
        }
        return text.charAt(position++);
    }

    private IllegalArgumentException error(String what) {
        return new IllegalArgumentException(what + " at offset " + position);
    }
}
