func v(c C) error {
	if c.Port == 0 {
		return errors.New("port required")
	}
	return nil
}
