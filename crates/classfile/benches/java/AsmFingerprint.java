import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Takes fingerprints of classes with ASM, one for each method and one for the
 * rest. Prints the nanoseconds of processor time of each round.
 *
 * <p>Debug information and stack maps are skipped, as fewest skips them. With
 * {@code cheap}, the hash is the cheapest there is: a multiplication for each
 * value, and the hash code that a string keeps. With {@code same}, everything
 * is written in a canonical form, with texts as bytes behind their length, and
 * that is hashed to 128 bits, as fewest does it.
 */
public class AsmFingerprint extends ClassVisitor {
    private static final int API = Opcodes.ASM9;

    private final Sink sink;
    private long sum;

    AsmFingerprint(Sink sink) {
        super(API);
        this.sink = sink;
    }

    public static void main(String[] args) throws IOException {
        List<byte[]> classes = read(args[0]);
        int rounds = Integer.parseInt(args[1]);
        Sink sink = args[2].equals("same") ? new Bytes() : new Cheap();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            long start = threads.getCurrentThreadCpuTime();
            for (byte[] bytes : classes) {
                AsmFingerprint visitor = new AsmFingerprint(sink);
                new ClassReader(bytes)
                        .accept(visitor, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
                sum += visitor.sum;
            }
            System.out.println(threads.getCurrentThreadCpuTime() - start);
        }
        // Whatever is computed must be used, or the compiler drops it.
        System.err.println(sum);
    }

    private static List<byte[]> read(String file) throws IOException {
        List<byte[]> classes = new ArrayList<>();
        try (DataInputStream in =
                new DataInputStream(
                        new BufferedInputStream(Files.newInputStream(Paths.get(file))))) {
            while (true) {
                byte[] bytes = new byte[in.readInt()];
                in.readFully(bytes);
                classes.add(bytes);
            }
        } catch (EOFException end) {
            return classes;
        }
    }

    /** Takes values in and gives a hash out. */
    private abstract static class Sink {
        abstract void start();

        abstract void number(long value);

        abstract void text(String text);

        abstract long finish();

        final void texts(String[] texts) {
            number(texts == null ? 0 : texts.length);
            if (texts != null) {
                for (String text : texts) {
                    text(text);
                }
            }
        }

        final void handle(Handle handle) {
            number(handle.getTag());
            text(handle.getOwner());
            text(handle.getName());
            text(handle.getDesc());
        }

        final void value(Object value) {
            if (value instanceof String) {
                text((String) value);
            } else if (value instanceof Integer || value instanceof Long) {
                number(((Number) value).longValue());
            } else if (value instanceof Handle) {
                handle((Handle) value);
            } else if (value instanceof Type) {
                text(((Type) value).getDescriptor());
            } else {
                text(String.valueOf(value));
            }
        }
    }

    private static final class Cheap extends Sink {
        private long hash;

        @Override
        void start() {
            hash = 0;
        }

        @Override
        void number(long value) {
            hash = hash * 0x9E3779B97F4A7C15L + value;
        }

        @Override
        void text(String text) {
            number(text == null ? 0 : text.hashCode());
        }

        @Override
        long finish() {
            return hash;
        }
    }

    private static final class Bytes extends Sink {
        private static final VarHandle LONGS =
                MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

        private byte[] bytes = new byte[1 << 16];
        private int length;

        @Override
        void start() {
            length = 0;
        }

        private void reserve(int count) {
            if (bytes.length - length < count) {
                bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + count));
            }
        }

        @Override
        void number(long value) {
            reserve(8);
            LONGS.set(bytes, length, value);
            length += value == (byte) value ? 1 : value == (int) value ? 4 : 8;
        }

        @Override
        @SuppressWarnings("deprecation")
        void text(String text) {
            if (text == null) {
                number(-1);
                return;
            }
            int count = text.length();
            reserve(count + 16);
            number(count);
            // Right for nearly all texts, and by far the fastest way.
            text.getBytes(0, count, bytes, length);
            length += count;
        }

        @Override
        long finish() {
            reserve(16);
            LONGS.set(bytes, length, 0L);
            long low = length;
            long high = ~length;
            for (int at = 0; at < length; at += 8) {
                long word = (long) LONGS.get(bytes, at);
                low = (low ^ word) * 0x9E3779B97F4A7C15L;
                high = Long.rotateLeft(high ^ word, 29) * 0xC2B2AE3D27D4EB4FL;
            }
            return low ^ high >>> 32;
        }
    }

    @Override
    public void visit(
            int version, int access, String name, String signature, String up, String[] interfaces) {
        sink.start();
        sink.number(version);
        sink.number(access);
        sink.text(name);
        sink.text(signature);
        sink.text(up);
        sink.texts(interfaces);
        sum += sink.finish();
    }

    @Override
    public void visitInnerClass(String name, String outer, String inner, int access) {
        sink.start();
        sink.number(access);
        sink.text(name);
        sink.text(outer);
        sink.text(inner);
        sum += sink.finish();
    }

    @Override
    public void visitNestMember(String member) {
        sink.start();
        sink.text(member);
        sum += sink.finish();
    }

    @Override
    public AnnotationVisitor visitAnnotation(String descriptor, boolean visible) {
        sink.start();
        return annotation(descriptor, visible);
    }

    private AnnotationVisitor annotation(String descriptor, boolean visible) {
        if (!visible) {
            return null;
        }
        sink.text(descriptor);
        return new Values();
    }

    @Override
    public FieldVisitor visitField(
            int access, String name, String descriptor, String signature, Object value) {
        sink.start();
        sink.number(access);
        sink.text(name);
        sink.text(descriptor);
        sink.text(signature);
        if (value != null) {
            sink.value(value);
        }
        return new FieldVisitor(API) {
            @Override
            public AnnotationVisitor visitAnnotation(String descriptor, boolean visible) {
                return annotation(descriptor, visible);
            }

            @Override
            public void visitEnd() {
                sum += sink.finish();
            }
        };
    }

    @Override
    public MethodVisitor visitMethod(
            int access, String name, String descriptor, String signature, String[] exceptions) {
        sink.start();
        sink.number(access);
        sink.text(name);
        sink.text(descriptor);
        sink.text(signature);
        sink.texts(exceptions);
        return new Method();
    }

    private final class Values extends AnnotationVisitor {
        Values() {
            super(API);
        }

        @Override
        public void visit(String name, Object value) {
            sink.text(name);
            sink.value(value);
        }

        @Override
        public void visitEnum(String name, String descriptor, String value) {
            sink.text(name);
            sink.text(descriptor);
            sink.text(value);
        }

        @Override
        public AnnotationVisitor visitAnnotation(String name, String descriptor) {
            sink.text(name);
            sink.text(descriptor);
            return this;
        }

        @Override
        public AnnotationVisitor visitArray(String name) {
            sink.text(name);
            return this;
        }
    }

    private final class Method extends MethodVisitor {
        private int labels;

        Method() {
            super(API);
        }

        private void place(Label label) {
            if (label.info == null) {
                label.info = ++labels;
            }
            sink.number((Integer) label.info);
        }

        @Override
        public AnnotationVisitor visitAnnotation(String descriptor, boolean visible) {
            return annotation(descriptor, visible);
        }

        @Override
        public void visitInsn(int opcode) {
            sink.number(opcode);
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            sink.number(opcode);
            sink.number(operand);
        }

        @Override
        public void visitVarInsn(int opcode, int local) {
            sink.number(opcode);
            sink.number(local);
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            sink.number(opcode);
            sink.text(type);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
            sink.number(opcode);
            sink.text(owner);
            sink.text(name);
            sink.text(descriptor);
        }

        @Override
        public void visitMethodInsn(
                int opcode, String owner, String name, String descriptor, boolean isInterface) {
            sink.number(opcode);
            sink.text(owner);
            sink.text(name);
            sink.text(descriptor);
            sink.number(isInterface ? 1 : 0);
        }

        @Override
        public void visitInvokeDynamicInsn(
                String name, String descriptor, Handle bootstrap, Object... arguments) {
            sink.number(Opcodes.INVOKEDYNAMIC);
            sink.text(name);
            sink.text(descriptor);
            sink.handle(bootstrap);
            for (Object argument : arguments) {
                sink.value(argument);
            }
        }

        @Override
        public void visitJumpInsn(int opcode, Label label) {
            sink.number(opcode);
            place(label);
        }

        @Override
        public void visitLabel(Label label) {
            place(label);
        }

        @Override
        public void visitLdcInsn(Object value) {
            sink.number(Opcodes.LDC);
            sink.value(value);
        }

        @Override
        public void visitIincInsn(int local, int increment) {
            sink.number(Opcodes.IINC);
            sink.number(local);
            sink.number(increment);
        }

        @Override
        public void visitTableSwitchInsn(int min, int max, Label standard, Label... labels) {
            sink.number(Opcodes.TABLESWITCH);
            sink.number(min);
            sink.number(max);
            place(standard);
            for (Label label : labels) {
                place(label);
            }
        }

        @Override
        public void visitLookupSwitchInsn(Label standard, int[] keys, Label[] labels) {
            sink.number(Opcodes.LOOKUPSWITCH);
            place(standard);
            for (int i = 0; i < keys.length; i++) {
                sink.number(keys[i]);
                place(labels[i]);
            }
        }

        @Override
        public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
            sink.number(Opcodes.MULTIANEWARRAY);
            sink.text(descriptor);
            sink.number(dimensions);
        }

        @Override
        public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
            place(start);
            place(end);
            place(handler);
            sink.text(type);
        }

        @Override
        public void visitEnd() {
            sum += sink.finish();
        }
    }
}
