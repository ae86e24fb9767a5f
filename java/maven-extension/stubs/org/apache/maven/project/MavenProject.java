package org.apache.maven.project;

import java.io.File;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.artifact.DependencyResolutionRequiredException;
import org.apache.maven.model.Build;

public class MavenProject {
    public native String getArtifactId();

    public native File getBasedir();

    public native Build getBuild();

    public native Properties getProperties();

    public native List<String> getTestCompileSourceRoots();

    public native Set<Artifact> getArtifacts();

    public native List<String> getTestClasspathElements()
            throws DependencyResolutionRequiredException;
}
