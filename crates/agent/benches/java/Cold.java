import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** Loads and initializes the first classes of some jars: COUNT JAR... */
public class Cold {
    public static void main(String[] args) throws Exception {
        int wanted = Integer.parseInt(args[0]);
        int loaded = 0;
        for (int i = 1; i < args.length; i++) {
            for (String name : classesOf(args[i])) {
                if (loaded < wanted && initializes(name)) {
                    loaded++;
                }
            }
        }
        System.out.println(loaded + " classes");
    }

    private static List<String> classesOf(String path) throws Exception {
        List<String> names = new ArrayList<>();
        try (JarFile jar = new JarFile(path)) {
            for (JarEntry entry : Collections.list(jar.entries())) {
                String name = entry.getName();
                if (name.endsWith(".class") && !name.contains("-")) {
                    names.add(name.substring(0, name.length() - 6).replace('/', '.'));
                }
            }
        }
        Collections.sort(names);
        return names;
    }

    private static boolean initializes(String name) {
        try {
            Class.forName(name, true, Cold.class.getClassLoader());
            return true;
        } catch (LinkageError | ClassNotFoundException e) {
            // Some classes need jars that are not here.
            return false;
        }
    }
}
