func main() {
	if ok {
		connect()
		send(1)
	}
}
