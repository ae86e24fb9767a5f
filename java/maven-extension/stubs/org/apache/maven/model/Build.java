package org.apache.maven.model;

public class Build {
    public native String getOutputDirectory();

    public native String getTestOutputDirectory();
}
