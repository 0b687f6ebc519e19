test_one() {
	echo one

	perf_script_samples dd &&
	perf_report_samples dd

	err=$?
}

test_two() {
	echo two

	perf_script_samples dd &&
	perf_report_samples dd

	err=$?
}
