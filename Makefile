# `make demo` and `make test` install what is missing, or say what to install.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
CARGO ?= cargo
OUT ?= out
FILES ?= 1000000
SEED ?= 1
POSES ?= 100000
# Mesa's device selection layer complains on machines without a desktop.
export NODEVICE_SELECT ?= 1

.PHONY: demo test fuzz bounds check vulkan help

help:
	@echo 'make demo   renders assets/mascot.glb to $(OUT)/ (a PNG and an animated file)'
	@echo 'make test   formatting, lints, documentation, all tests, the comparison with stored results'
	@echo 'make bounds bounds of POSES=$(POSES) poses against every vertex, and how tight they are over clips'
	@echo 'make fuzz   loads FILES=$(FILES) mutated files of SEED=$(SEED); docs/hostile-input.md says what is checked'

demo: vulkan
	@mkdir -p $(OUT)
	@echo '== building the program (release)'
	$(CARGO) build --release --features cli --bin sinew
	@echo '== rendering assets/mascot.glb'
	target/release/sinew render assets/mascot.glb --clip wave --time 1.3 --size 1280x720 -o $(OUT)/mascot.png
	target/release/sinew render assets/mascot.glb --clip run --size 480x480 --fps 25 -o $(OUT)/mascot.gif
	@echo '== done: $(OUT)/mascot.png and $(OUT)/mascot.gif'

test: vulkan check
	$(CARGO) nextest run --workspace --all-features --no-fail-fast
	$(CARGO) test --workspace --all-features --doc
	@echo '== deformed vertices against the stored float64 results'
	$(CARGO) nextest run --all-features --test reference --no-capture every_job

# The same test as in `make test`, at length.
fuzz:
	SINEW_FUZZ_FILES=$(FILES) SINEW_FUZZ_SEED=$(SEED) $(CARGO) test --profile fuzz --no-default-features \
		--features gltf,meshopt --test import -- --nocapture fuzz::

# The same for bounds that follow the pose.
bounds:
	SINEW_POSES=$(POSES) $(CARGO) test --release --no-default-features --features gltf,meshopt --test bounds -- --nocapture

check:
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings
	$(CARGO) clippy --no-default-features --features gltf,shader -- -D warnings
	$(CARGO) clippy --manifest-path examples/custom_material/Cargo.toml --target-dir target/custom_material -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --all-features --no-deps

# A Vulkan driver must answer; Mesa's software one is enough.
vulkan:
	@bash .ci/vulkan
	@$(CARGO) nextest --version >/dev/null 2>&1 || [ '$(MAKECMDGOALS)' = demo ] || \
		{ echo '== installing cargo-nextest'; $(CARGO) install cargo-nextest --locked; }
