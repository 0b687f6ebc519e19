package main

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	user, err := s.auth(ctx, r)
	if err != nil {
		http.Error(w, "unauthorized", 401)
		metrics.Inc("unauthorized")
		return
	}
	log.Println("request from", user.Name)
	s.serve(ctx, w, user)
}
