"""Programs in Java, for peers and for Spindle's own client.

All get the same machine: a heap that does not grow, and the collector for throughput, as in JGroups' own reports on
performance; and more time to warm up than others, as it compiles while it runs.
"""

from . import BENCH, build, need

MACHINE = ["-Xms400M", "-Xmx400M", "-XX:+UseParallelGC", "-Djava.net.preferIPv4Stack=true"]
WARMUP_SECONDS = 4
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
#: The load and what speaks with the script, for a member of any system.
LOAD = BENCH / "peers" / "java"


def java():
    return need("java", "Java")


def fetch(artifact, folder, what):
    """The jar of "group:name:version", which comes from the registry once."""
    _, name, version = artifact.split(":")
    folder.mkdir(parents=True, exist_ok=True)
    jar = folder / f"{name}-{version}.jar"
    if not jar.exists():
        build([need("mvn", "Maven"), "--batch-mode", "--quiet", COPY, f"-Dartifact={artifact}",
               f"-DoutputDirectory={folder}"], folder, what)
    return jar


def compile_sources(sources, library, folder, what, *options):
    """Into `folder`, which is made; the class path then."""
    folder.mkdir(parents=True, exist_ok=True)
    build([need("javac", "Java compiler"), "-Xlint:all,-classfile", "-Werror", *options, "-cp", library, "-d", folder,
           *sources], BENCH, what)
    return f"{library}:{folder}"


def compile_member(source, library, folder, what, *options):
    """The same for a member: a folder of sources, or one file, with the load."""
    own = [source] if source.suffix else sorted(source.glob("*.java"))
    return compile_sources([*sorted(LOAD.glob("*.java")), *own], library, folder, what, *options)
