app.get('/users', auth, (req, res) => {
  const page = Number(req.query.page);
  res.json(users(page));
});
