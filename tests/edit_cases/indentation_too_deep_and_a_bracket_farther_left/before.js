function send() {
  if (ready) {
    var url = parse(this.req)

    // append slash
    url.path = null
    url.name = join(url.name, '/')
  }
}
