package fewest.maven;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Turns the classes to leave out into entries for the mojo's {@code excludes}.
 *
 * <p>A class is left out together with the classes nested in it. A name with characters that could
 * mean something else to Surefire gets no entry: its tests run.
 */
final class Excludes {
    private static final String NESTED_CLASSES = "**/*$*";

    private Excludes() {}

    /** The classes of a list that an entry can name. */
    static Set<String> nameable(Collection<String> classes) {
        Set<String> names = new LinkedHashSet<>(classes);
        names.removeIf(name -> !isPlain(name));
        return names;
    }

    /** Surefire 2.13 to 2.18 ignore a regular expression in silence, so those get plain names. */
    static boolean understandsRegex(String version) {
        String[] parts = version.split("[.-]");
        try {
            int major = Integer.parseInt(parts[0]);
            return major > 2 || (major == 2 && Integer.parseInt(parts[1]) >= 19);
        } catch (RuntimeException e) {
            return false;
        }
    }

    /**
     * The user's entries and ours.
     *
     * @param users what the mojo has, null or empty for none
     * @param defaults whether Surefire would put its own default in the place of no entries
     */
    static List<String> add(
            Collection<String> users, boolean defaults, Collection<String> skip, boolean regex) {
        List<String> entries = new ArrayList<>();
        if (users != null) {
            entries.addAll(users);
        }
        if (defaults) {
            // The default is dropped as soon as there is an entry, and nested classes would run.
            entries.add(NESTED_CLASSES);
        }
        if (regex) {
            entries.add(regex(skip));
        } else {
            for (String name : skip) {
                entries.add(name + ".java");
                if (!defaults) {
                    entries.add(name + "$*.java");
                }
            }
        }
        return entries;
    }

    /** Whether the class, or one that it is nested in, is to be left out. */
    static boolean covers(Collection<String> skip, String name) {
        if (skip.contains(name)) {
            return true;
        }
        int dollar = name.lastIndexOf('$');
        return dollar > name.lastIndexOf('/') + 1 && covers(skip, name.substring(0, dollar));
    }

    /**
     * One expression for all classes, because thousands of entries cost seconds. Classes of a package
     * share its name.
     */
    private static String regex(Collection<String> skip) {
        Map<String, StringBuilder> packages = new TreeMap<>();
        for (String name : skip) {
            int end = name.lastIndexOf('/') + 1;
            String simple = name.substring(end).replace("$", "\\$");
            StringBuilder names = packages.get(name.substring(0, end));
            if (names == null) {
                packages.put(name.substring(0, end), new StringBuilder(simple));
            } else {
                names.append('|').append(simple);
            }
        }
        StringBuilder out = new StringBuilder("%regex[(?:");
        String separator = "";
        for (Map.Entry<String, StringBuilder> entry : packages.entrySet()) {
            out.append(separator).append(entry.getKey().replace("$", "\\$"));
            out.append("(?:").append(entry.getValue()).append(')');
            separator = "|";
        }
        return out.append(")(?:\\$[^/]*)?\\.class]").toString();
    }

    private static boolean isPlain(String name) {
        for (int i = 0; i < name.length(); i++) {
            if (name.charAt(i) != '/' && !Character.isJavaIdentifierPart(name.charAt(i))) {
                return false;
            }
        }
        return true;
    }
}
