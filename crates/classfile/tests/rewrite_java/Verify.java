import java.io.ByteArrayInputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.constant.ClassDesc;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs the JDK's verifier over classes without loading them: {@code ORIGINAL
 * REWRITTEN...}. A class must verify as its original does; one whose original
 * does not verify says nothing and is called open.
 */
public class Verify {
    private final Map<String, byte[]> byName = new HashMap<>();
    private final ClassFile verifier = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(
            ClassHierarchyResolver.ofResourceParsing(this::find)
                    .orElse(ClassHierarchyResolver.defaultResolver())
                    .cached(ConcurrentHashMap::new)));

    public static void main(String[] args) throws Exception {
        Map<String, byte[]> original = Classes.read(Path.of(args[0]));
        Verify verify = new Verify(original);
        for (int i = 1; i < args.length; i++) {
            verify.run(original, Classes.read(Path.of(args[i])));
        }
    }

    private Verify(Map<String, byte[]> original) {
        original.forEach((name, bytes) -> byName.putIfAbsent(Classes.binaryName(name), bytes));
    }

    private ByteArrayInputStream find(ClassDesc type) {
        String descriptor = type.descriptorString();
        byte[] bytes = byName.get(descriptor.substring(1, descriptor.length() - 1));
        return bytes == null ? null : new ByteArrayInputStream(bytes);
    }

    private void run(Map<String, byte[]> original, Map<String, byte[]> rewritten) {
        AtomicInteger verified = new AtomicInteger();
        AtomicInteger unverifiable = new AtomicInteger();
        rewritten.entrySet().parallelStream().forEach(entry -> {
            String trouble = trouble(entry.getValue());
            if (trouble == null) {
                verified.incrementAndGet();
            } else if (trouble(original.get(entry.getKey())) != null) {
                unverifiable.incrementAndGet();
                System.out.println("OPEN " + entry.getKey());
            } else {
                System.out.println("BAD " + entry.getKey() + " " + trouble);
            }
        });
        System.out.println("DONE verified " + verified + ", unverifiable as its original " + unverifiable);
    }

    private String trouble(byte[] bytes) {
        try {
            List<VerifyError> errors = verifier.verify(bytes);
            return errors.isEmpty() ? null : errors.get(0).getMessage().lines().findFirst().orElse("?");
        } catch (RuntimeException error) {
            return error.toString();
        }
    }
}
