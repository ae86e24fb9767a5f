package org.apache.maven.execution;

import java.util.Properties;

public class MavenSession {
    public native Properties getUserProperties();

    public native String getExecutionRootDirectory();
}
