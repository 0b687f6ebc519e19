func open(dir string) error {
	fi, err := os.Stat(dir)
	if err != nil {
		return err
	}
	return check(fi)
}

func remove(dir string) error {
	err := os.Remove(dir)
	if err != nil {
		if !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}
