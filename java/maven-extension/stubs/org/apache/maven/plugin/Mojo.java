package org.apache.maven.plugin;

public interface Mojo {}
