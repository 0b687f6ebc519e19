function send() {
  if (ready) {
    var url = parse(this.req)
}
    url.path = null
    url.name = join(url.name, '/')
  }
}
