use shuck_parser::parser::Parser;
fn main() {
    for text in std::env::args().skip(1) {
        let t = std::time::Instant::now();
        let r = Parser::new(&text).parse();
        eprintln!("{:?}", t.elapsed());
        println!("=== {text:?}\n{:?} {:?}", r.status, r.diagnostics);
        let s = format!("{:#?}", r.file);
        // compact spans
        println!("{}", s);
    }
}
