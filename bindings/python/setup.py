"""Builds the package: CMake compiles the module. What it is compiled from stands in native/ of a source package, and in
a checkout beside this folder."""
import os
import re
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
IS_WHOLE = (HERE / "native" / "libclient").is_dir()
SOURCES = HERE / "native" if IS_WHOLE else HERE.parent.parent


def version():
    """Of the library's own header."""
    text = (SOURCES / "libclient" / "include" / "spindle" / "version.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"define SPINDLE_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


class BuildByCMake(build_ext):
    def build_extension(self, ext):
        folder = Path(self.get_ext_fullpath(ext.name)).resolve().parent
        build = Path(self.build_temp).resolve()
        build_type = os.environ.get("CMAKE_BUILD_TYPE", "Release")
        subprocess.run(["cmake", "-S", HERE / "native", "-B", build, f"-DCMAKE_BUILD_TYPE={build_type}",
                        f"-DSPINDLE_SOURCES={SOURCES}", f"-DSPINDLE_MODULE_FOLDER={folder}",
                        f"-DPython3_EXECUTABLE={sys.executable}"], check=True)
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 1)
        subprocess.run(["cmake", "--build", build, "--parallel", jobs], check=True)


class WholeSdist(sdist):
    def run(self):
        if not IS_WHOLE:
            sys.exit("a source package is made of a folder with all that is compiled: tools/bindings python package")
        super().run()


setup(version=version(), ext_modules=[Extension("spindle._engine", sources=[])],
      cmdclass={"build_ext": BuildByCMake, "sdist": WholeSdist})
