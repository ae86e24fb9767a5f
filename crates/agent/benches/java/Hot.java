/** Small methods in hot loops: a probe that the compiler cannot fold shows. */
public class Hot {
    private double state = 1;

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        double[] values = new double[1000];
        for (int i = 0; i < values.length; i++) {
            values[i] = i * 0.5;
        }
        Hot hot = new Hot();
        double sum = 0;
        for (int round = 0; round < rounds; round++) {
            sum += hot.pass(values, round);
        }
        System.out.println(sum);
    }

    private double pass(double[] values, int round) {
        double sum = 0;
        for (double value : values) {
            sum += step(value, round);
        }
        return sum;
    }

    private double step(double value, int round) {
        state = scaled(state) + square(value) + round;
        return even(round) ? state : -state;
    }

    private static double scaled(double value) {
        return value * 0.25;
    }

    private static double square(double value) {
        return value * value;
    }

    private static boolean even(int number) {
        return (number & 1) == 0;
    }
}
