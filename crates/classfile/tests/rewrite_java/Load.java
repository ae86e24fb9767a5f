import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/**
 * Loads and links classes without initializing them: {@code ORIGINAL
 * REWRITTEN...}. What was not rewritten is taken from the original. With
 * {@code -Xverify:all} linking verifies them, old ones too. A class must link as
 * its original does; one whose original does not, for lack of another class,
 * says nothing and is called open.
 */
public class Load {
    public static void main(String[] args) throws Exception {
        Map<String, byte[]> original = Classes.read(Path.of(args[0]));
        Loader before = new Loader(original);
        for (int i = 1; i < args.length; i++) {
            Map<String, byte[]> rewritten = Classes.read(Path.of(args[i]));
            Loader after = new Loader(rewritten);
            List<String> names = new ArrayList<>(after.classes.keySet());
            after.classes.putAll(new Loader(original).without(names));
            check(names, before, after);
        }
    }

    private static void check(List<String> names, Loader before, Loader after) {
        int linked = 0;
        int unlinkable = 0;
        for (String name : names) {
            String trouble = after.link(name);
            if (trouble == null) {
                linked++;
            } else if (kind(trouble).equals(kind(before.link(name)))) {
                unlinkable++;
                System.out.println("OPEN " + after.files.get(name));
            } else {
                System.out.println("BAD " + name + " " + trouble);
            }
        }
        after.shadowed.forEach(file -> System.out.println("OPEN " + file));
        System.out.println("DONE linked " + linked + ", unlinkable as its original " + unlinkable
                + ", not tried " + after.shadowed.size());
    }

    private static String kind(String trouble) {
        return trouble == null ? "none" : trouble.split(":")[0];
    }

    /** A class path: of classes with one name only the first counts. */
    private static final class Loader extends ClassLoader {
        private final Map<String, byte[]> classes = new HashMap<>();
        private final Map<String, String> files = new HashMap<>();
        /** Files that are no class of this class path. */
        private final List<String> shadowed = new ArrayList<>();

        Loader(Map<String, byte[]> all) {
            super(ClassLoader.getPlatformClassLoader());
            all.forEach((file, bytes) -> {
                String name = Classes.binaryName(file).replace('/', '.');
                boolean other = name.startsWith("META-INF.") || name.endsWith("module-info");
                if (other || classes.putIfAbsent(name, bytes) != null) {
                    shadowed.add(file);
                } else {
                    files.put(name, file);
                }
            });
        }

        Map<String, byte[]> without(List<String> names) {
            Map<String, byte[]> rest = new HashMap<>(classes);
            rest.keySet().removeAll(new HashSet<>(names));
            return rest;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            byte[] bytes = classes.get(name);
            if (bytes == null) {
                throw new ClassNotFoundException(name);
            }
            return defineClass(name, bytes, 0, bytes.length);
        }

        String link(String name) {
            try {
                Class<?> type = Class.forName(name, false, this);
                if (type.getClassLoader() == this) {
                    linkByReflection(type);
                }
                return null;
            } catch (ClassNotFoundException | LinkageError | RuntimeException error) {
                return String.valueOf(error).lines().findFirst().orElse("?");
            }
        }

        /**
         * Reflection links a class before it looks at its members, and does not
         * initialize it. One of these may fail for a member whose type is
         * missing; if all do, the class itself may not have been linked.
         */
        private static void linkByReflection(Class<?> type) {
            try {
                type.getDeclaredConstructors();
                return;
            } catch (NoClassDefFoundError error) {
                // Go on to the fields.
            }
            try {
                type.getDeclaredFields();
                return;
            } catch (NoClassDefFoundError error) {
                // Go on to the methods.
            }
            type.getDeclaredMethods();
        }
    }
}
