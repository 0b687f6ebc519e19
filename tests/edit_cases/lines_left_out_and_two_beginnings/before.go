func save(db *DB, rec Record) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	id, err := tx.Insert(rec)
	if err != nil {
		return err
	}
	if err := tx.Audit(id); err != nil {
		tx.Rollback()
	}
	return tx.Commit()
}
