package org.apache.maven.model;

import java.util.List;

public class Plugin {
    public native List<Dependency> getDependencies();
}
