package org.apache.maven.artifact;

public class DependencyResolutionRequiredException extends Exception {}
