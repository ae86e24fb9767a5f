package org.apache.maven.plugin;

import org.apache.maven.model.Plugin;

public class MojoExecution {
    public native String getArtifactId();

    public native String getVersion();

    public native String getGoal();

    public native String getExecutionId();

    public native Plugin getPlugin();
}
