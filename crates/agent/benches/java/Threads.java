/** Eight threads that call the same small methods: their probes share memory. */
public class Threads {
    interface Shape {
        long area();
    }

    static final class Square implements Shape {
        private final long side;

        Square(long side) {
            this.side = side;
        }

        @Override
        public long area() {
            return side * side;
        }
    }

    static final class Strip implements Shape {
        private final long length;

        Strip(long length) {
            this.length = length;
        }

        @Override
        public long area() {
            return length + 1;
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        long[] sums = new long[8];
        Thread[] threads = new Thread[sums.length];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            threads[i] = new Thread(() -> sums[number] = work(number, rounds));
            threads[i].start();
        }
        long sum = 0;
        for (int i = 0; i < threads.length; i++) {
            threads[i].join();
            sum += sums[i];
        }
        System.out.println(sum);
    }

    private static long work(int number, int rounds) {
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            sum = mixed(sum, shape(number + round).area());
        }
        return sum;
    }

    private static Shape shape(int number) {
        return (number & 3) == 0 ? new Strip(number) : new Square(number);
    }

    private static long mixed(long sum, long value) {
        return sum * 31 + value;
    }
}
