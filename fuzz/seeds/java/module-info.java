/** A module with one of each directive. */
module seeds {
    requires java.base;
    requires transitive java.logging;
    requires static java.compiler;
    uses java.util.spi.ToolProvider;
}
