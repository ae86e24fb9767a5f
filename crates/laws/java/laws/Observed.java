package laws;

import org.junit.Rule;
import org.junit.rules.TestWatcher;
import org.junit.runner.Description;

/** A test that tells what it saw instead of judging it: one line per test method. */
public abstract class Observed {
    private final StringBuilder seen = new StringBuilder();

    @Rule
    public final TestWatcher watcher =
            new TestWatcher() {
                @Override
                protected void failed(Throwable e, Description test) {
                    see(e);
                }

                @Override
                protected void finished(Description test) {
                    String name = test.getClassName() + "." + test.getMethodName();
                    System.out.println("@" + name + seen);
                }
            };

    protected void see(Object thing) {
        seen.append(' ').append(thing);
    }
}
