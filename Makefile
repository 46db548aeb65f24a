# The usual words for those who do not use CMake by hand. PREFIX and DESTDIR are honoured by
# `make install`; BUILD is the build folder, TYPE Release or Debug.
BUILD ?= build/release
TYPE ?= Release
PREFIX ?= /usr/local

.PHONY: all test install clean

all:
	cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=$(TYPE) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	cmake --build $(BUILD) --parallel

test: all
	ctest --test-dir $(BUILD) --output-on-failure

install: all
	DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf $(BUILD)
