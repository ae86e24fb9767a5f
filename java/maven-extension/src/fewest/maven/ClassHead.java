package fewest.maven;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;

/** The flags of a class file, read without loading the class. */
final class ClassHead {
    private static final int ACC_INTERFACE = 0x0200;
    private static final int ACC_ABSTRACT = 0x0400;

    private ClassHead() {}

    /** Whether no object of the class can exist; false if the file cannot be read. */
    static boolean isAbstract(File classFile) {
        try (DataInputStream in =
                new DataInputStream(
                        new BufferedInputStream(Files.newInputStream(classFile.toPath())))) {
            return (flags(in) & (ACC_INTERFACE | ACC_ABSTRACT)) != 0;
        } catch (IOException e) {
            return false;
        }
    }

    /** JVMS §4.1: the flags follow the constant pool. */
    private static int flags(DataInputStream in) throws IOException {
        in.readLong(); // magic, versions
        int count = in.readUnsignedShort();
        for (int i = 1; i < count; i++) {
            int tag = in.readUnsignedByte();
            in.readFully(new byte[size(tag, in)]);
            if (tag == 5 || tag == 6) {
                i++; // §4.4.5: a long or a double takes two places.
            }
        }
        return in.readUnsignedShort();
    }

    /** How many bytes of a constant are left behind its tag, and the length that §4.4.7 gives. */
    private static int size(int tag, DataInputStream in) throws IOException {
        switch (tag) {
            case 1: // Utf8
                return in.readUnsignedShort();
            case 7: // Class
            case 8: // String
            case 16: // MethodType
            case 19: // Module
            case 20: // Package
                return 2;
            case 15: // MethodHandle
                return 3;
            case 5: // Long
            case 6: // Double
                return 8;
            case 3: // Integer
            case 4: // Float
            case 9: // Fieldref
            case 10: // Methodref
            case 11: // InterfaceMethodref
            case 12: // NameAndType
            case 17: // Dynamic
            case 18: // InvokeDynamic
                return 4;
            default:
                throw new IOException("constant of unknown kind " + tag);
        }
    }
}
