package org.apache.maven.model;

public class Dependency {
    public native String getGroupId();

    public native String getArtifactId();

    public native String getVersion();
}
