package org.apache.maven.artifact;

import java.io.File;

public interface Artifact {
    String getGroupId();

    String getArtifactId();

    String getScope();

    File getFile();
}
