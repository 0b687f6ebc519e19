export function Page({ title, rows }) {
  return (
    <main>
      <h1>{title}</h1>
      <Table
        {...table}
        rows={rows}
      />
    </main>
  );
}
