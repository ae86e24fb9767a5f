import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs versions of a class, {@code FOLDER COUNT}: says what every test method
 * returns. What a version does not hold comes from the original.
 */
public class Harness {
    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            URL[] path = {
                folder.resolve("version" + i).toUri().toURL(),
                folder.resolve("original").toUri().toURL()
            };
            System.out.println("version");
            try (URLClassLoader loader = new URLClassLoader(path)) {
                run(loader.loadClass("Faults"));
            }
        }
    }

    private static void run(Class<?> type) {
        List<Method> methods = new ArrayList<>();
        for (Method method : type.getMethods()) {
            boolean own = method.getDeclaringClass().getName().matches("Faults|Parent");
            if (own && method.getParameterCount() == 0) {
                methods.add(method);
            }
        }
        for (Method method : methods) {
            System.out.println("  " + method.getName() + " = " + result(type, method));
        }
    }

    private static String result(Class<?> type, Method method) {
        try {
            return String.valueOf(method.invoke(type.getConstructor().newInstance()));
        } catch (ReflectiveOperationException | LinkageError error) {
            return String.valueOf(error.getCause() == null ? error : error.getCause());
        }
    }
}
