package fewest.maven;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The mojo's {@code argLine}: one string that Surefire splits into the arguments of the test JVM. */
final class ArgLine {
    private static final Pattern LATE = Pattern.compile("@\\{([^}]*)}");

    private ArgLine() {}

    /** Replaces {@code @{name}} as Surefire does when the mojo runs; unknown names stay. */
    static String bindLate(String line, Properties project, Properties user) {
        Matcher matcher = LATE.matcher(line);
        StringBuffer out = new StringBuffer();
        while (matcher.find()) {
            String value = user.getProperty(matcher.group(1), project.getProperty(matcher.group(1)));
            matcher.appendReplacement(
                    out, Matcher.quoteReplacement(value == null ? matcher.group() : value));
        }
        return matcher.appendTail(out).toString();
    }

    /** Splits at blanks outside quotes. Quotes of either sort may stand anywhere; none escapes. */
    static List<String> split(String line) {
        List<String> arguments = new ArrayList<>();
        StringBuilder argument = null;
        char quote = 0;
        for (char c : line.toCharArray()) {
            if (quote == 0 && Character.isWhitespace(c)) {
                if (argument != null) {
                    arguments.add(argument.toString());
                }
                argument = null;
                continue;
            }
            if (argument == null) {
                argument = new StringBuilder();
            }
            if (quote == 0 && (c == '"' || c == '\'')) {
                quote = c;
            } else if (c == quote) {
                quote = 0;
            } else {
                argument.append(c);
            }
        }
        if (argument != null) {
            arguments.add(argument.toString());
        }
        return arguments;
    }

    static String append(String line, List<String> arguments) {
        StringBuilder out = new StringBuilder(line == null ? "" : line.trim());
        for (String argument : arguments) {
            out.append(out.length() == 0 ? "" : " ").append(quote(argument));
        }
        return out.toString();
    }

    private static String quote(String argument) {
        boolean quoted = argument.indexOf('"') >= 0;
        if (quoted && argument.indexOf('\'') >= 0) {
            throw new IllegalArgumentException("no way to quote " + argument);
        }
        if (quoted) {
            return '\'' + argument + '\'';
        }
        boolean plain = !argument.isEmpty() && argument.indexOf('\'') < 0;
        for (int i = 0; i < argument.length(); i++) {
            plain &= !Character.isWhitespace(argument.charAt(i));
        }
        return plain ? argument : '"' + argument + '"';
    }
}
