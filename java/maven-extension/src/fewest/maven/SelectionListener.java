package fewest.maven;

import javax.inject.Named;
import javax.inject.Singleton;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.execution.MojoExecutionEvent;
import org.apache.maven.execution.MojoExecutionListener;

/**
 * Maven calls this before each mojo, after it has been configured. A mojo that runs tests becomes a
 * {@link TestTask}; whatever goes wrong there, the build goes on as it would without us.
 *
 * <p>With {@code -T}, several threads call at once.
 */
@Named
@Singleton
public final class SelectionListener implements MojoExecutionListener {
    private boolean started;
    private Run run;

    @Override
    public void beforeMojoExecution(MojoExecutionEvent event) {
        String module = event.getProject().getArtifactId();
        try {
            Run run = run(event.getSession());
            TestMojo mojo = TestMojo.of(event.getMojo(), event.getExecution().getGoal());
            if (run != null && mojo != null) {
                new TestTask(run, event, mojo).prepare();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception | LinkageError e) {
            Run.say("fewest: " + module + ": tests run as without fewest: " + reason(e));
        }
    }

    private synchronized Run run(MavenSession session) {
        if (!started) {
            started = true;
            run = Run.of(session);
        }
        return run;
    }

    private static String reason(Throwable e) {
        String message = e.getMessage();
        return message == null ? e.toString() : message.split("\\R", 2)[0];
    }

    @Override
    public void afterMojoExecutionSuccess(MojoExecutionEvent event) {
        // Reports are read after the build, because Maven does not call when tests fail.
    }

    @Override
    public void afterExecutionFailure(MojoExecutionEvent event) {
        // See above.
    }
}
