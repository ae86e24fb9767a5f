package fewest.maven;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The parameters of a Surefire or Failsafe mojo, read and set by name.
 *
 * <p>From version to version the fields move between the mojo and its superclasses, and some come or
 * go, so they are looked for all the way up, and a missing one reads as null.
 */
final class TestMojo {
    private static final String BASE = "org.apache.maven.plugin.surefire.AbstractSurefireMojo";

    private final Object mojo;
    private final Deque<Runnable> undo = new ArrayDeque<>();

    private TestMojo(Object mojo) {
        this.mojo = mojo;
    }

    /** The view of a mojo that runs tests, or null for any other mojo. */
    static TestMojo of(Object mojo, String goal) {
        if (!goal.equals("test") && !goal.equals("integration-test")) {
            return null;
        }
        for (Class<?> type = mojo.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().equals(BASE)) {
                return new TestMojo(mojo);
            }
        }
        return null;
    }

    Object get(String name) {
        Field field = field(name);
        try {
            return field == null ? null : field.get(mojo);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("cannot read " + name, e);
        }
    }

    /** The value of a parameter, or null if it is blank. */
    String text(String name) {
        Object value = get(name);
        return value == null || value.toString().trim().isEmpty() ? null : value.toString();
    }

    /** Sets a parameter if this version has it, and remembers how to take that back. */
    boolean set(String name, Object value) {
        Field field = field(name);
        if (field == null) {
            return false;
        }
        Object old = get(name);
        undo.push(() -> assign(field, old));
        assign(field, value);
        return true;
    }

    /** Takes every {@link #set} back, the last one first. */
    void restore() {
        while (!undo.isEmpty()) {
            undo.pop().run();
        }
    }

    /** Sets a parameter, which {@link #restore} leaves as it is then. */
    void replace(String name, Object value) {
        assign(field(name), value);
    }

    boolean hasField(String name) {
        return field(name) != null;
    }

    /** The declared type of a field, or null if there is none. */
    Class<?> typeOf(String name) {
        Field field = field(name);
        return field == null ? null : field.getType();
    }

    /** Takes back what was set since a mark was made by {@link #mark}. */
    void restore(int mark) {
        while (undo.size() > mark) {
            undo.pop().run();
        }
    }

    int mark() {
        return undo.size();
    }

    /** Calls a method without parameters. */
    Object call(String name) {
        return call(mojo, name);
    }

    boolean has(String method) {
        return method(mojo, method) != null;
    }

    boolean isSkipped() {
        return Boolean.TRUE.equals(call("isSkipExecution"));
    }

    /** The names of the classes that the mojo would run, by its own scanner. */
    List<String> scan() {
        Object result = call(has("scanForTestClasses") ? "scanForTestClasses" : "scanDirectories");
        // From 2.19 on, the mojo remembers its filters, and would not see new excludes.
        assignIfPresent("includedExcludedTests", null);
        assignIfPresent("specificTests", null);
        int size = (Integer) call(result, "size");
        List<String> classes = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            classes.add((String) callWith(result, "getClassName", int.class, i));
        }
        return classes;
    }

    /** All instance fields that the mojo and its superclasses up to Surefire's own declare. */
    Map<String, Object> fields() {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (Class<?> type = mojo.getClass(); type != null; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())) {
                    fields.put(field.getName(), get(field.getName()));
                }
            }
            if (type.getName().equals(BASE)) {
                break;
            }
        }
        return fields;
    }

    /** Calls a one-parameter method of the mojo. */
    Object callWith(String name, Class<?> type, Object argument) {
        return callWith(mojo, name, type, argument);
    }

    static Object call(Object target, String name) {
        return invoke(target, name, method(target, name));
    }

    static Object callWith(Object target, String name, Class<?> type, Object argument) {
        return invoke(target, name, method(target, name, type), argument);
    }

    private static Object invoke(Object target, String name, Method method, Object... arguments) {
        if (method == null) {
            throw new IllegalStateException(target.getClass().getName() + " has no " + name);
        }
        try {
            method.setAccessible(true);
            return method.invoke(target, arguments);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("cannot call " + name, e);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(name + " failed: " + e.getCause(), e.getCause());
        }
    }

    private static Method method(Object target, String name, Class<?>... types) {
        for (Class<?> type = target.getClass(); type != null; type = type.getSuperclass()) {
            try {
                return type.getDeclaredMethod(name, types);
            } catch (NoSuchMethodException e) {
                // Looked for further up.
            }
        }
        return null;
    }

    private Field field(String name) {
        for (Class<?> type = mojo.getClass(); type != null; type = type.getSuperclass()) {
            try {
                Field field = type.getDeclaredField(name);
                field.setAccessible(true);
                return field;
            } catch (NoSuchFieldException e) {
                // Looked for further up.
            }
        }
        return null;
    }

    private void assignIfPresent(String name, Object value) {
        Field field = field(name);
        if (field != null) {
            assign(field, value);
        }
    }

    private void assign(Field field, Object value) {
        try {
            field.set(mojo, value);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("cannot set " + field.getName(), e);
        }
    }
}
