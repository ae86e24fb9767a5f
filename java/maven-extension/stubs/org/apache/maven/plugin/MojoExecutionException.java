package org.apache.maven.plugin;

public class MojoExecutionException extends Exception {}
