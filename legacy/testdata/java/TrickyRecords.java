import java.beans.XMLDecoder;
import java.beans.XMLEncoder;
import java.io.*;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.*;

/**
 * The other side of the twin tests: the JDK's own encoders and decoders. JDK classes only.
 *
 * "write DIR" makes tricky.ndjson and tricky.expected.ndjson, records and what a decoder must say
 * of each. Where the input is text, what it must say is what the JDK's decoder says.
 *
 * "read" answers each line "FORMAT BASE64" on standard input with the JSON of what the JDK's
 * decoder reads from these bytes, or with "error" and why.
 */
public class TrickyRecords {
  static PrintStream tree, want;
  static int sequence;

  // ---- the JDK's encoders
  static byte[] javaObject(Object o) throws Exception {
    ByteArrayOutputStream b = new ByteArrayOutputStream();
    try (ObjectOutputStream s = new ObjectOutputStream(b)) { s.writeObject(o); }
    return b.toByteArray();
  }
  static byte[] beansXml(Object o) {
    ByteArrayOutputStream b = new ByteArrayOutputStream();
    try (XMLEncoder e = new XMLEncoder(b)) { e.writeObject(o); }
    return b.toByteArray();
  }
  static byte[] propertiesXml(Properties p, String comment, String encoding) throws Exception {
    ByteArrayOutputStream b = new ByteArrayOutputStream();
    p.storeToXML(b, comment, encoding);
    return b.toByteArray();
  }
  static byte[] propertiesText(Properties p, String comment) throws Exception {
    ByteArrayOutputStream b = new ByteArrayOutputStream();
    p.store(b, comment);
    // The date would make every run another.
    return b.toString("ISO-8859-1").replaceFirst("(?m)^#... ... .. .*$", "#date").getBytes("ISO-8859-1");
  }

  // ---- the JDK's decoders
  static Properties load(String format, byte[] data) throws Exception {
    Properties p = new Properties();
    switch (format) {
      case "java-serialized": return (Properties) new ObjectInputStream(new ByteArrayInputStream(data)).readObject();
      case "properties-xml": p.loadFromXML(new ByteArrayInputStream(data)); return p;
      case "properties": p.load(new ByteArrayInputStream(data)); return p;
      case "beans-xml":
        Exception[] first = new Exception[1];
        try (XMLDecoder d = new XMLDecoder(new ByteArrayInputStream(data))) {
          d.setExceptionListener(e -> { if (first[0] == null) first[0] = e; });
          p = (Properties) d.readObject();
        }
        if (first[0] != null) throw first[0];
        return p;
    }
    throw new IllegalArgumentException(format);
  }

  // ---- JSON, by hand
  static String q(String s) {
    StringBuilder b = new StringBuilder("\"");
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
      if (c == '"' || c == '\\') b.append('\\').append(c);
      else if (c < 0x20 || c > 0x7e) b.append(String.format("\\u%04x", (int) c));
      else b.append(c);
    }
    return b.append('"').toString();
  }
  /** Own entries and those of the defaults that they don't hide. */
  static String json(Properties p) throws Exception {
    TreeMap<String, Object> all = new TreeMap<>();
    for (Properties q = p; q != null; q = defaults(q))
      for (Map.Entry<Object, Object> e : q.entrySet()) all.putIfAbsent((String) e.getKey(), e.getValue());
    StringJoiner j = new StringJoiner(",", "{", "}");
    all.forEach((k, v) -> j.add(q(k) + ":" + (v instanceof String ? q((String) v) : v)));
    return j.toString();
  }
  /** Another class with the shape of a Properties. */
  static class Twin extends Hashtable<Object, Object> {
    private static final long serialVersionUID = 4112578634029874840L;
    Properties defaults;
  }
  /** What over gave p: a Properties shows its defaults only where they are strings. */
  static Properties defaults(Properties p) { return DEFAULTS.get(p); }
  static final IdentityHashMap<Properties, Properties> DEFAULTS = new IdentityHashMap<>();
  static Properties over(Properties defaults) {
    Properties p = new Properties(defaults);
    if (defaults != null) DEFAULTS.put(p, defaults);
    return p;
  }

  static String put(byte[] payload) throws Exception {
    ByteArrayOutputStream b = new ByteArrayOutputStream();
    DataOutputStream d = new DataOutputStream(b);
    d.writeByte(0); d.writeLong(1709164800123L); d.write(payload);
    String path = String.format("/ingest/mrtQ-0500%010d", ++sequence);
    tree.println("{\"path\":" + q(path) + ",\"data\":\"" + Base64.getEncoder().encodeToString(b.toByteArray()) + "\"}");
    return path;
  }
  static void good(String format, byte[] payload, Properties p) throws Exception {
    want.println("{\"path\":" + q(put(payload)) + ",\"status\":\"pending\",\"time\":\"2024-02-29T00:00:00.123Z\",\"format\":"
        + q(format) + ",\"payload\":" + json(p) + "}");
  }
  static void bad(String kind, byte[] payload) throws Exception {
    want.println("{\"path\":" + q(put(payload)) + ",\"error\":" + q(kind) + "}");
  }
  /** Whatever the JDK's decoder says of it. */
  static void text(String format, String s, String charset) throws Exception {
    byte[] data = s.getBytes(charset);
    Properties p;
    try { p = load(format, data); } catch (Exception e) { bad("bad-payload", data); return; }
    good(format, data, p);
  }

  static Properties of(Object... kv) {
    Properties p = new Properties();
    for (int i = 0; i < kv.length; i += 2) p.put(kv[i], kv[i + 1]);
    return p;
  }
  static String times(String s, int n) { return String.join("", Collections.nCopies(n, s)); }

  @SuppressWarnings({"deprecation", "removal"})
  static void write() throws Exception {
    Properties[] strings = {
      of(), of("", ""), of("a", ""), of("", "v"), of(" lead", " lead"), of("trail ", "trail "), of("a b=c:d#e!f", "a b=c:d#e!f"),
      of("#k", "#v"), of("!k", "!v"), of("{", "}"), of("<x>", "</x>"), of("&amp;", "&#65;"), of("k", "${price} ${${x}}"),
      of("q", "'\"]]><![CDATA[x]]>"), of("slash", "\\ \\\\ \\u0041 \\n"), of("nl", "a\nb"), of("tab", "a\tb\t"),
      of("astral", "\ud83d\ude00\ud834\udd1e"), of("high", "cut \ud83d"), of("low", "\ude00 cut"), of("swapped", "\ude00\ud83d"),
      of("highs", "\ud83d\ud83d\ude00"), of("\ud83d", "unpaired key"), of("\ud83d\ude00", "astral key"),
      of("guard", "\udbff\udffd"), of("guards", "\udbff\udffdd83d \udbff\udffd\udbff\udffd \ud83d"), of("\udbff\udffd-", "x"),
      of("bmp", "\u00e9\u0100\u07ff\u0800\uffee\ufeff\u2028\u202e\u0085\u00a0"), of("replacement", "\ufffd"),
      of("many", "1", "of", "2", "them", "3", "here", "4", "batchID", "5", "jobID", "6", "x", "7", "y", "8", "z", "9"),
    };
    for (Properties p : strings) {
      good("java-serialized", javaObject(p), p);
      good("beans-xml", beansXml(p), p);
      good("properties-xml", propertiesXml(p, null, "UTF-8"), p);
      good("properties", propertiesText(p, "saved"), p);
    }
    // What Java's own storeToXML loses: CR in text becomes LF, a line end or tab in a key a blank.
    good("properties-xml", propertiesXml(of("cr", "a\r\nb\rc"), "c <&>", "UTF-8"), of("cr", "a\nb\nc"));
    good("properties-xml", propertiesXml(of("k\ne\ty", "v"), null, "UTF-8"), of("k e y", "v"));
    good("properties-xml", propertiesXml(of("latin", "\u00e9\u00ff \ud83d\ude00 \ud83d"), "\u00e9", "ISO-8859-1"), of("latin", "\u00e9\u00ff \ud83d\ude00 \ud83d"));
    good("properties-xml", propertiesXml(of("ascii", "plain"), null, "US-ASCII"), of("ascii", "plain"));
    for (String charset : new String[] {"UTF-16", "UTF-16LE", "UTF-16BE", "windows-1252", "windows-1251", "ISO-8859-15", "Shift_JIS", "EUC-JP", "GBK", "GB18030", "IBM850", "KOI8-R"}) {
      String s = new String("a\u00e9\u0416\u65e5\u20ac".getBytes(charset), charset).replace("?", "");
      good("properties-xml", propertiesXml(of(charset, s), s, charset), of(charset, s));
      String beans = "<?xml version='1.0' encoding='" + charset + "'?><java class='java.beans.XMLDecoder'><object class='java.util.Properties'><void method='put'><string>a</string><string>" + s + "</string></void></object></java>";
      text("beans-xml", beans, charset);
    }
    // storeToXML writes control characters that loadFromXML refuses.
    bad("bad-payload", propertiesXml(of("bell", "\u0007"), null, "UTF-8"));

    Properties p = of("nul", "a\u0000b", "bell", "\u0007\u001f\u007f", "non", "\ufffe\uffff", "cr", "\r\n\r");
    good("java-serialized", javaObject(p), p);
    good("beans-xml", beansXml(p), p);
    good("properties", propertiesText(p, null), p);

    p = of("t", true, "f", false, "i", 5, "min", Integer.MIN_VALUE, "max", Integer.MAX_VALUE, "l", 5L,
        "lmin", Long.MIN_VALUE, "lmax", Long.MAX_VALUE, "zero", 0, "s", "5");
    good("java-serialized", javaObject(p), p);
    good("beans-xml", beansXml(p), p);
    good("java-serialized", javaObject(of("n", new Boolean(true), "m", new Boolean(true), "i", new Integer(1000), "j", new Integer(1000))),
        of("n", true, "m", true, "i", 1000, "j", 1000));
    Integer shared = 100000; String text = new String("shared");
    p = of("a", shared, "b", shared, "c", text, "d", text, text, "e", "type", "Ljava/util/Properties;");
    good("java-serialized", javaObject(p), p);

    Properties deep = of("deep", "3", "hidden", "no"), middle = over(deep);
    middle.put("middle", 2L); middle.put("hidden", "neither"); middle.put("b", Boolean.TRUE);
    p = over(middle); p.put("own", "1"); p.put("hidden", "yes"); p.put("b2", Boolean.TRUE); p.put("s", text);
    deep.put("s2", text);
    good("java-serialized", javaObject(p), p);
    p = over(of("only", "default"));
    good("java-serialized", javaObject(p), p);
    p = null;
    for (int i = 0; i < 20; i++) { p = over(p); p.put("level" + i, "v"); p.put("same", "v" + i); }
    good("java-serialized", javaObject(p), p);

    for (int n : new int[] {65535, 65536}) {
      p = of("long", times("x", n)); good("java-serialized", javaObject(p), p);
    }
    p = of("long", times("\ud83d\ude00", 10923), "again", "\u0000"); // 6 bytes each: 65538
    good("java-serialized", javaObject(p), p);

    // other classes
    bad("unsupported-class", javaObject(of("d", new Date(0))));
    bad("unsupported-class", javaObject(of("d", 1.5)));
    bad("unsupported-class", javaObject(of("d", (short) 1)));
    bad("unsupported-class", javaObject(of("d", 'c')));
    bad("unsupported-class", javaObject(of("d", new BigDecimal("1"))));
    bad("unsupported-class", javaObject(of("d", new String[] {"x"})));
    bad("unsupported-class", javaObject(of("d", new int[] {1})));
    bad("unsupported-class", javaObject(of("d", Thread.State.NEW)));
    bad("unsupported-class", javaObject(of("d", String.class)));
    bad("unsupported-class", javaObject(of("d", of())));
    bad("unsupported-class", javaObject(new HashMap<>(Map.of("k", "v"))));
    bad("unsupported-class", javaObject(new Hashtable<>(Map.of("k", "v"))));
    bad("unsupported-class", javaObject(new Twin()));
    bad("unsupported-class", javaObject("a string"));
    bad("unsupported-class", javaObject(5));
    bad("bad-payload", javaObject(null));
    bad("bad-payload", javaObject(of(5, "integer key")));
    ByteArrayOutputStream b = new ByteArrayOutputStream();
    ObjectOutputStream two = new ObjectOutputStream(b);
    two.writeObject(of("a", "b")); two.writeObject(of("a", "b")); two.close();
    bad("bad-payload", b.toByteArray());
    b = new ByteArrayOutputStream();
    ObjectOutputStream block = new ObjectOutputStream(b);
    block.writeInt(5); block.writeObject(of("a", "b")); block.close();
    bad("bad-payload", b.toByteArray());
    bad("unsupported-class", beansXml(new Date(0)));
    bad("unsupported-class", beansXml(of("d", new Date(0))));
    bad("unsupported-class", beansXml(of("d", 1.5)));
    bad("unsupported-class", beansXml(of("d", 'c')));
    bad("unsupported-class", beansXml(of("d", of("x", "y"))));
    bad("unsupported-class", beansXml(of("d", String.class)));
    bad("unsupported-class", beansXml(of("d", new int[] {1, 2})));
    bad("unsupported-class", beansXml("a string"));
    bad("unsupported-class", beansXml(new HashMap<>(Map.of("k", "v"))));

    for (String s : new String[] {
        "a=b", "a:b", "a b", "a\tb", "a\fb", "a  =  b", "a : = b", "a = : b", "a==b", "a=:b", "a b c", "a", "a=", "a ", "=b", ":b", " = b", "= =",
        "  a = b  ", "\t\f a=b", "# c\na=b", "! c\na=b", "  # c\na=b", "#c\\\na=b", "a=b#c", "a#b=c", "a=b\nc=d", "a=b\rc=d", "a=b\r\nc=d", "\n\n\r\na=b\n\n",
        "a=b\\\nc", "a=b\\\r\nc", "a=b\\\rc", "a=b\\\n   c", "a=b\\\n\nc=d", "a=b\\\r\n\r\nc=d", "a=b\\\n # no comment", "a\\\nb=c", "a\\\n  b=c", "a\\\r\nb=c",
        "\\\na=b", "\\\n#c\na=b", "\\\n  #c\na=b", "\\\n\na=b", "\\", "\\\n", "\\\r\n", "\\\n ", "a\\", "a=b\\", "a=b\\\\", "a=b\\\\\nc=d", "a=b\\\\\\\nc", "a=b\\\n", "a=b\\\r\n", "a=b\\\n  ",
        "a=\\t\\n\\r\\f\\b\\x\\\"\\'\\ \\=\\:\\#\\!\\z", "\\t\\n\\ \\=\\:\\#=v", "\\=a=b", "\\:=b", "\\ =b", "\\#a=b", "#a\\=b",
        "a=\\u0041", "a=\\u004", "a=\\u", "a=\\u00zz", "a=\\uu0041", "a=\\U0041", "\\u0061=b", "a\\u003db=c", "a=\\u0020 b", "a=\\u000ab\nc=d", "a=\\\\u0041",
        "a=\\u00\\\n41", "a=\\\nu0041", "a=\\u004\n1=x", "a=\\u+041", "a=\\u 041", "a=\\ud83d\\ude00", "a=\\ud83d", "a=\\ude00\\ud83d", "a=\\uD83D x \\uDE00", "a=\\udbff\\udffd", "\\ud83d=x",
        "a=1\na=2", "a=1\na", "a=\\u0000", "a=\u00e9\u00ff", "\u00e9=a", "\u00ef\u00bb\u00bfa=b", "a=\\\u00e9", "a=${b}\nb=${a}", "a=${", "a=b\f", "a=b \t", "\f", " ", "\n", "#", "#\n", "!x",
        "a=[1]", "[section]\na=b", "a=%s%d", "%=%", "a=b\\ ", "a\\ b c", "a:\\=b", "key = value = more : and more", "a=\\\n\\\n\\\nb", "a=\\\n  \\\n  b", "a\\\\\\=b=c"}) {
      if (s.startsWith("[")) continue; // taken for JSON, and refused
      text("properties", s, "ISO-8859-1");
    }
    for (String s : new String[] {"a=\u0096", "a\u0096=b", "a=\u0007\u001f\u007f", "a\u000bb=c", "\u001ca=b", "a=b\u0085c=d", "a=\u001c b\u0085 ", "a=\\\u0096"}) text("properties", s, "ISO-8859-1");

    String dtd = "<!DOCTYPE properties SYSTEM \"http://java.sun.com/dtd/properties.dtd\">";
    for (String s : new String[] {
        "<properties></properties>", "<properties/>", "<properties version=\"1.0\"><entry key='a'>b</entry></properties>",
        "<properties><comment>c</comment><entry key='a'>b</entry></properties>", "<properties><entry key='a'/></properties>", "<properties><entry>b</entry></properties>",
        "<properties><entry key='a'>1</entry><entry key='a'>2</entry></properties>", "<properties><entry key='a\tb\nc\r\nd'>b</entry></properties>",
        "<properties><entry key='a&#9;b&#10;c&#13;d'>b</entry></properties>", "<properties><entry key='a'>x\r\ny\rz&#13;&#10;</entry></properties>",
        "<properties><entry key='a'>&lt;&gt;&amp;&apos;&quot;&#65;&#x41;</entry></properties>", "<properties><entry key='&lt;&quot;&apos;'>\"'</entry></properties>",
        "<properties><entry key=\"a>b'c\">&#xd83d;&#xde00;</entry></properties>", "<properties><entry key='&#xd83d;'>&#xd83d; &#55357;</entry></properties>",
        "<properties><entry key='a'>1<![CDATA[&#xd83d; <&]]>2<!-- &#xd83d; -->3<?pi &#xd83d; ?>4</entry></properties>",
        "<properties><entry key='a'>&#7;&#1;</entry></properties>",
        "<properties><entry key='a'>1<b/></entry></properties>", "<properties><other/></properties>", "<properties><entry key='a'>1</properties>", "<properties><entry key='a'>1</entry>",
        "<properties></properties><properties/>", "<properties></properties> <!-- end -->\n",
        "<properties><entry key='a'>\u0085\u2028\ufeff</entry></properties>"}) {
      text("properties-xml", dtd + s, "UTF-8");
      text("properties-xml", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + dtd + "\n" + s, "UTF-8");
    }
    for (String charset : new String[] {"UTF-16LE", "UTF-16BE"}) {
      text("properties-xml", "\ufeff" + dtd + "<properties><entry key='bom'>\u00e9</entry></properties>", charset);
      text("properties-xml", "\ufeff\n " + dtd + "<properties><entry key='bom'>\u00e9</entry></properties>", charset);
      text("properties-xml", "\ufeff<?xml version='1.0' encoding='UTF-8'?>" + dtd + "<properties><entry key='bom'>\u00e9</entry></properties>", charset);
      text("properties-xml", "<?xml version='1.0' encoding='" + charset + "'?>" + dtd + "<properties><entry key='none'>\u00e9</entry></properties>", charset);
    }
    for (String name : new String[] {"latin1", "ISO8859_1", "Cp1252", "UTF8", "ASCII"})
      text("properties-xml", "<?xml version='1.0' encoding='" + name + "'?>" + dtd + "<properties><entry key='name'>\u00e9?</entry></properties>", name);
    text("properties-xml", "\ufeff" + dtd + "<properties><entry key='bom'>b</entry></properties>", "UTF-8");
    text("properties-xml", "<?xml version='1.0' encoding='iso-8859-1'?>" + dtd + "<properties><entry key='\u00e9'>\u00ff&#xd83d;&#xde00;</entry></properties>", "ISO-8859-1");
    // Where the JDK's parser for properties strays from XML, we don't follow: it refuses characters
    // and references beyond U+FFFF, and takes unknown entities for nothing, attributes twice, and noncharacters.
    good("properties-xml", utf8("<properties><entry key='&#x1F600;'>&#x10fffd;&#128512;\udbff\udffd</entry></properties>"), of("\ud83d\ude00", "\udbff\udffd\ud83d\ude00\udbff\udffd"));
    good("properties-xml", utf8("<properties><entry key='no DTD'>&#x0000000000000000d83d;</entry></properties>"), of("no DTD", "\ud83d"));
    bad("bad-payload", utf8(dtd + "<properties><entry key='a'>&nosuch;</entry></properties>"));
    bad("bad-payload", utf8(dtd + "<properties><entry key='a' key='b'>1</entry></properties>"));
    bad("bad-payload", utf8(dtd + "<properties><entry key='a'>\ufffe</entry></properties>"));
    bad("bad-payload", utf8("<!DOCTYPE properties [<!ENTITY e 'x'>]><properties><entry key='a'>&e;</entry></properties>"));
    bad("bad-payload", utf8("<!DOCTYPE properties SYSTEM 'x' [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><properties><entry key='a'>&e;</entry></properties>"));

    String head = "<java version=\"1.8.0\" class=\"java.beans.XMLDecoder\"><object class=\"java.util.Properties\">", tail = "</object></java>";
    for (String s : new String[] {
        "", "<void method='put'><string>a</string><string>b</string></void>", "<void method='put'><string></string><string/></void>",
        "<void method='put'><string>a</string><boolean>true</boolean></void>", "<void method='put'><string>a</string><boolean>yes</boolean></void>",
        "<void method='put'><string>a</string><int>-5</int></void>", "<void method='put'><string>a</string><int>2147483648</int></void>", "<void method='put'><string>a</string><int> 5</int></void>",
        "<void method='put'><string>a</string><long>9223372036854775807</long></void>", "<void method='put'><string>a</string><long>x</long></void>",
        "<void method='put'><string>a</string><string>x<char code='#d83d'/><char code='#de00'/>y<char code='0x7'/><char code='65'/><char code='010'/></string></void>",
        "<void method='put'><string>a</string><string><char code='#'/></string></void>", "<void method='put'><string>a</string><string><char code='#110000'/></string></void>",
        "<void method='put'><string>a</string><string> b<!-- c -->d<![CDATA[&#65;]]>&#13;\r\n </string></void>", "<void method='put'><string>a</string></void>",
        "<void method='put'><string>a</string><string>1</string></void><void method='put'><string>a</string><string>2</string></void>",
        "text", "<void method='put'>text<string>a</string><string>b</string></void>", "<void method='put'><string>a</string><string>b</string>"}) {
      text("beans-xml", head + s + tail, "UTF-8");
    }
    for (String s : new String[] {
        "<void method='clear'/>", "<void method='load'><object class='java.io.FileInputStream'><string>/etc/passwd</string></object></void>", "<void property='x'><string>y</string></void>",
        "<void method='put'><string>a</string><object class='java.lang.ProcessBuilder'/></void>", "<void method='put'><string>a</string><null/></void>",
        "<void class='java.lang.Runtime' method='getRuntime'/>", "<object idref='x'/>", "<void method='put'><string>a</string><object class='java.util.Properties'/></void>",
        "<void method='put'><string>a</string><class>java.lang.Runtime</class></void>", "<void method='put'><string>a</string><string>b</string></void><void method='remove'><string>a</string></void>"}) {
      bad("unsupported-class", utf8(head + s + tail));
    }
    bad("unsupported-class", utf8("<java><object class='java.util.Properties' method='getProperties'/></java>"));
    bad("unsupported-class", utf8("<java><void class='java.lang.System' method='exit'><int>1</int></void></java>"));
    good("beans-xml", utf8(head + "<void method='put'><string>a</string><string><char code='#1f600'/></string></void>" + tail), of("a", "\ud83d\ude00"));
    bad("bad-payload", utf8("<java/>"));
    bad("bad-payload", utf8("<html/>"));
  }
  static byte[] utf8(String s) { return s.getBytes(StandardCharsets.UTF_8); }

  public static void main(String[] a) throws Exception {
    if (a[0].equals("write")) {
      tree = new PrintStream(new FileOutputStream(a[1] + "/tricky.ndjson"), false, "UTF-8");
      want = new PrintStream(new FileOutputStream(a[1] + "/tricky.expected.ndjson"), false, "UTF-8");
      write();
      tree.close(); want.close();
      return;
    }
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "US-ASCII"));
    PrintStream out = new PrintStream(new BufferedOutputStream(System.out), false, "US-ASCII");
    for (String line; (line = in.readLine()) != null; ) {
      String[] part = line.split(" ", -1);
      try { out.println(json(load(part[0], Base64.getDecoder().decode(part[1])))); }
      catch (Exception e) { out.println("error " + e.toString().replace('\n', ' ').replace('\r', ' ')); }
    }
    out.close();
  }
}
