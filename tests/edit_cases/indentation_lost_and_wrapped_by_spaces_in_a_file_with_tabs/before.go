func main() {
	connect()
	send(1)
}
