/** Result of a check. */
export type Outcome = 'pass' | 'fail' | 'indeterminate' | 'not-applicable';

interface CheckDefinition {
  /** What the check verifies, in one line of English. */
  readonly meaning: string;
  /** The same text in Turkish. */
  readonly tr: string;
  /**
   * Whether the verdict `valid` needs the check to pass (or not to apply). A check that fails makes the verdict
   * `invalid`, required or not.
   */
  readonly required: boolean;
  /**
   * When the check fails, in the words of docs/evidence-format.md (§ refers to its sections), or null if it never
   * fails.
   */
  readonly fails: string | null;
  /** When the check remains undecided, or null if it never does. */
  readonly opens: string | null;
}

/**
 * Every check, in the order of the report. The ids are stable: reports, tests and other programs name them. The table
 * of docs/evidence-format.md §13 is generated from this one. It tells implementers what to refuse, and readers of a
 * report what was found.
 */
export const CHECKS = {
  'container.structure': {
    meaning: 'The ZIP is unambiguous: every program that extracts it sees the same files.',
    tr: 'ZIP tek anlamlıdır: onu açan her program aynı dosyaları görür.',
    required: true,
    fails:
      'The ZIP breaks a rule of §3 on offsets, headers, flags, methods, extra fields or end records. A receipt is not written in the one form of §16, or has a file that is not base64.',
    opens: null,
  },
  'container.names': {
    meaning: 'Every file name is one that a package may contain, and no two names collide.',
    tr: 'Her dosya adı bir pakette bulunabilir ve hiçbir iki ad çakışmaz.',
    required: true,
    fails: 'A name is not in the table of §3, or is there twice.',
    opens: 'A file is under `ext/` (§17).',
  },
  'container.limits': {
    meaning: 'No file exceeds the limits on size and compression ratio.',
    tr: 'Hiçbir dosya boyut ve sıkıştırma sınırlarını aşmaz.',
    required: true,
    fails: 'The package exceeds a limit of §14.',
    opens: null,
  },
  'container.content': {
    meaning: 'Every file decompresses to the size and checksum that the ZIP states.',
    tr: 'Her dosya, ZIP içinde belirtilen boyut ve sağlama toplamıyla açılır.',
    required: true,
    fails: 'A file cannot be decompressed, or has another size or CRC-32 than the ZIP states.',
    opens: null,
  },
  'manifest.format': {
    meaning: 'The manifest has this format and a version that this verifier supports.',
    tr: 'Bildirim (manifest) bu biçimdedir ve bu doğrulayıcının desteklediği bir sürümdedir.',
    required: true,
    fails:
      '`manifest.json` is missing, is not strict JSON, does not have its shape (§10), or is of the other kind of file. A receipt is not of one record (§16).',
    opens: 'Its minor version is newer (§17).',
  },
  'manifest.files': {
    meaning: 'The manifest lists every file with its SHA-256, and every listed file is present and unchanged.',
    tr: 'Bildirim her dosyayı SHA-256 özetiyle listeler; listelenen her dosya vardır ve değişmemiştir.',
    required: true,
    fails:
      'A file is not listed, or a listed one is missing, unreadable or has another SHA-256. A file that is named by a hash has another one. The manifest lists an attachment, itself or its signature. No disclosure names an attachment, or no entry needs a notice, a file of proofs or a file of tags (§3).',
    opens: 'The manifest is missing or not known, or an unknown event may name the attachment or the notice (§17).',
  },
  'manifest.counts': {
    meaning: 'The package contains as many entries, consents and attachments as its manifest states.',
    tr: 'Pakette bildirimin belirttiği kadar girdi, rıza ve ek vardır.',
    required: true,
    fails:
      'The package has another number of entries, consents, erased records, records with `key_lost` or attachments than `counts` states. An erased record is one whose line has `erased`.',
    opens: 'The manifest is missing or not known, or unknown events may be the missing ones (§17).',
  },
  'manifest.filter': {
    meaning: 'The package discloses values only of the records and fields that the manifest states.',
    tr: 'Paket yalnızca bildirimin belirttiği kayıtların ve alanların değerlerini gösterir.',
    required: true,
    fails:
      'A value is disclosed of a consent that does not match `filter`, of a field that `disclose` does not name, or, if `filter.person.records` is a number, of a consent without a tag of the person (§10).',
    opens: null,
  },
  'manifest.signature': {
    meaning: 'The key that the signature names signed the manifest.',
    tr: 'Bildirimi, imzanın adını verdiği anahtar imzalamıştır.',
    required: true,
    fails:
      '`manifest.json.jws` is missing, has another form than §10 states, or its signature over `manifest.json` is invalid.',
    opens: 'The time of verification is 2036-01-01 or later: the signature is of Ed25519 (§9).',
  },
  'manifest.certificate': {
    meaning: 'The ledger key certifies the key that signed the manifest.',
    tr: 'Bildirimi imzalayan anahtarı defterin anahtarı onaylar.',
    required: true,
    fails:
      'The certificate is malformed, or is for another key or origin. The signature of a given key is invalid, or a trusted key signed it that is not in force at the newest checkpoint, or none of the given keys and their successors signed it.',
    opens:
      'There is no signature, no ledger key is given, only another key of the ledger’s name signed the newest checkpoint, or only an announcement that is not proved explains who signed (§8).',
  },
  'ledger.key': {
    meaning: 'The ledger key that you gave signed the checkpoints.',
    tr: 'Denetim noktalarını verdiğiniz defter anahtarı imzalamıştır.',
    required: true,
    fails:
      'No given key has the name of the ledger. A signature by a given key or by an announced one is invalid. No key in force at its size signed a checkpoint, or no trusted key signed the newest one (§8).',
    opens:
      'No ledger key is given, the algorithms of all given ones are past their dates (§9), the package has no checkpoint, only another key of the ledger’s name signed the newest one, or only an announcement that is not proved explains who signed (§8).',
  },
  'ledger.checkpoint': {
    meaning: 'Every checkpoint is well-formed and belongs to this ledger.',
    tr: 'Her denetim noktası doğru biçimdedir ve bu deftere aittir.',
    required: true,
    fails:
      'A note is malformed, or has another origin than the manifest or another size than its name. A response has no note. The checkpoint in the manifest is not the newest in the package, or is null although there is one.',
    opens: 'The manifest names no checkpoint, and the package has none.',
  },
  'ledger.announcement': {
    meaning: 'Every change of the ledger keys was announced in the ledger, and the old and the new keys signed that.',
    tr: 'Defter anahtarının her değişimi defterde duyurulmuştur; bunu hem eski hem yeni anahtar imzalamıştır.',
    required: true,
    fails:
      'An announcement is malformed, is of another ledger or of keys that were in force before, or is not in the ledger of the first checkpoint over its batch. The keys announced before it, or its own, did not sign that checkpoint (§8).',
    opens: 'A part of its proof is missing, or has an unknown version (§17).',
  },
  'ledger.consistency': {
    meaning: 'Every checkpoint extends the previous one: no sealed batch was rewritten.',
    tr: 'Her denetim noktası öncekinin devamıdır: mühürlenmiş hiçbir grup yeniden yazılmamıştır.',
    required: true,
    fails: 'A proof is invalid, is repeated, or is not between two neighbouring sizes of the package (§7).',
    opens: 'The proof between two neighbouring sizes is missing.',
  },
  'ledger.witnesses': {
    meaning: 'The witnesses that you trust cosigned the newest checkpoint, and no cosignature of theirs is invalid.',
    tr: 'Güvendiğiniz tanıklar en yeni denetim noktasını imzalamıştır ve hiçbir imzaları geçersiz değildir.',
    required: true,
    fails:
      'A file of cosignatures is malformed or has no checkpoint, a cosignature of a given key is invalid, or a given key has two lines in one file (§7.1).',
    opens:
      'Fewer given witnesses than required cosigned the newest checkpoint, they do not meet the quorum of the trust policy, or a cosignature states a time more than 300 s after the time of verification (§7.1).',
  },
  'tst.format': {
    meaning: 'Every time stamp file contains one RFC 3161 token and no further bytes.',
    tr: 'Her zaman damgası dosyası tek bir RFC 3161 damgası içerir, fazladan bayt içermez.',
    required: false,
    fails: 'The file is not one TimeStampResp or token (RFC 3161, RFC 5652), or has bytes after it.',
    opens: 'A checkpoint has no time stamp.',
  },
  'tst.status': {
    meaning: 'The authority granted every time stamp.',
    tr: 'Makam her zaman damgasını vermiştir.',
    required: false,
    fails: 'The status is neither 0 nor 1, or there is no token.',
    opens: null,
  },
  'tst.content-type': {
    meaning: 'The content of every token is a TSTInfo.',
    tr: 'Her damganın içeriği bir TSTInfo yapısıdır.',
    required: false,
    fails: 'The token is not SignedData, or its content is not a TSTInfo (1.2.840.113549.1.9.16.1.4).',
    opens: null,
  },
  'tst.version': {
    meaning: 'Every TSTInfo and SignerInfo has the version that its standard requires.',
    tr: 'Her TSTInfo ve SignerInfo, standardının istediği sürümdedir.',
    required: false,
    fails:
      'TSTInfo does not have version 1, or a SignerInfo does not have the version that RFC 5652 §5.3 demands (§9).',
    opens: null,
  },
  'tst.single-signer': {
    meaning: 'Every token has exactly one signer.',
    tr: 'Her damganın tam olarak bir imzalayanı vardır.',
    required: false,
    fails: 'There is no SignerInfo, or more than one.',
    opens: null,
  },
  'tst.signed-attributes': {
    meaning: 'The signed attributes bind the signature to the time stamp.',
    tr: 'İmzalı öznitelikler imzayı zaman damgasına bağlar.',
    required: false,
    fails:
      'The signed attributes are missing, malformed or repeated, the content-type is not that of TSTInfo, or the message-digest is not the digest of the content.',
    opens: 'The verifier does not know the digest algorithm.',
  },
  'tst.imprint': {
    meaning: 'Every time stamp covers the exact bytes of its checkpoint.',
    tr: 'Her zaman damgası, denetim noktasının baytlarının tam kendisini kapsar.',
    required: false,
    fails: 'The imprint is not the digest of the note, or the parameters of its hash are malformed.',
    opens: 'The verifier does not know the hash, or the hash is past its date (§9).',
  },
  'tst.signer-certificate': {
    meaning: "The signer's certificate is available.",
    tr: 'İmzalayanın sertifikası mevcuttur.',
    required: false,
    fails: null,
    opens:
      'No certificate of token and package has the issuer and serial number, or the key identifier, of SignerInfo.',
  },
  'tst.signature': {
    meaning: "The authority's signature is valid.",
    tr: 'Makamın imzası geçerlidir.',
    required: false,
    fails:
      'There are no signed attributes, or the signature over them is invalid, both in their order and sorted as in DER. The algorithm is malformed, uses another hash than the digest algorithm (RFC 8933), or is not allowed for the key.',
    opens: 'The verifier does not support the algorithm or the type of key.',
  },
  'tst.ess': {
    meaning: 'The token identifies its signing certificate by hash (ESSCertID).',
    tr: 'Damga, imza sertifikasını özetiyle belirtir (ESSCertID).',
    required: false,
    fails:
      'There is neither ESSCertID nor ESSCertIDv2 (RFC 5816), or one of them has another hash, issuer or serial number than the signer’s certificate.',
    opens: 'The hash of one of them is MD5, or is not known.',
  },
  'tst.eku': {
    meaning: "The signer's certificate is restricted to time stamping.",
    tr: 'İmzalayanın sertifikası yalnızca zaman damgası içindir.',
    required: false,
    fails:
      'The extended key usage of the signer’s certificate is missing, not critical, or anything but time stamping alone (RFC 3161 §2.3).',
    opens: null,
  },
  'tst.key-usage': {
    meaning: "The key usage of the signer's certificate allows signatures.",
    tr: 'İmzalayanın sertifikasındaki anahtar kullanımı imzaya izin verir.',
    required: false,
    fails:
      'The certificate has a key usage that includes neither digitalSignature nor nonRepudiation, or includes anything else.',
    opens: null,
  },
  'tst.not-ca': {
    meaning: "The signer's certificate is not a CA certificate.",
    tr: 'İmzalayanın sertifikası bir CA sertifikası değildir.',
    required: false,
    fails: 'The certificate states that it is a CA, or is older than X.509 version 3.',
    opens: null,
  },
  'tst.path': {
    meaning: "At the time of the stamp, the signer's certificate chained to a root that you gave.",
    tr: 'Damganın zamanında imzalayanın sertifikası, verdiğiniz bir köke bağlanıyordu.',
    required: false,
    fails:
      'Each path to a given root breaks a rule of RFC 5280 §6.1 at genTime, with the exceptions of §9, or the search exceeds its limits or, for a token that is verified by itself, the limit of work (§14). There is none, and a path ends at a self-signed certificate that was not given, or the issuer that a certificate names did not sign it.',
    opens:
      'No readable root is given, or no path leads to one although nothing in it is wrong. A rule of §9 leaves it open. A certificate has an algorithm that the verifier does not support.',
  },
  'tst.revocation': {
    meaning: 'No certificate of that chain was revoked.',
    tr: 'Bu zincirdeki hiçbir sertifika iptal edilmemiştir.',
    required: false,
    fails: 'A certificate of the path was revoked (§9, “Revocation”).',
    opens: 'The revocation of a certificate of the path is indeterminate (§9, “Revocation”), or there is no path.',
  },
  'tst.algorithms': {
    meaning: 'The algorithms and keys are still considered sound.',
    tr: 'Algoritmalar ve anahtarlar hâlâ sağlam sayılır.',
    required: false,
    fails: null,
    opens:
      'An algorithm or key of the token or the path is past its date, or the stamp is past the end of its soundness, and no newer stamp renews it (§9). No signature was verified.',
  },
  'tst.policy': {
    meaning: 'The authority issued the time stamp under an accepted policy.',
    tr: 'Makam zaman damgasını kabul edilen bir ilkeye göre vermiştir.',
    required: false,
    fails: 'The relying party named policies (`--policy`), and the token has another.',
    opens: null,
  },
  'tst.nonce': {
    meaning: 'The nonce in the time stamp matches the nonce of the request.',
    tr: 'Zaman damgasındaki tek kullanımlık sayı (nonce) istektekiyle aynıdır.',
    required: false,
    fails: 'The relying party gave a nonce (`--nonce`), and the token has another or none.',
    opens: null,
  },
  'tst.extensions': {
    meaning: 'No token has an unknown critical extension.',
    tr: 'Hiçbir damgada bilinmeyen kritik bir uzantı yoktur.',
    required: false,
    fails: 'TSTInfo has a critical extension.',
    opens: null,
  },
  'tst.tsa-name': {
    meaning: "The authority's name in the token matches its certificate.",
    tr: 'Damgadaki makam adı sertifikasıyla eşleşir.',
    required: false,
    fails: 'TSTInfo names an authority that is neither subject nor alternative name of the signer’s certificate.',
    opens: null,
  },
  'tst.time': {
    meaning: 'The time of every stamp is before the time of verification.',
    tr: 'Her damganın zamanı doğrulama zamanından öncedir.',
    required: false,
    fails: 'genTime, less the accuracy, is more than 60 s after the time of verification.',
    opens: null,
  },
  'batch.header': {
    meaning: 'Every batch header is well-formed and in order.',
    tr: 'Her grup başlığı doğru biçimde ve sıradadır.',
    required: true,
    fails:
      'A header does not have its shape, is not canonical, is longer than 2,000 characters, or has counts and numbers that no batch can have (§6). Numbers do not increase from line to line. `sealed_at` is earlier, or `after` is smaller, than that of an earlier batch, or `after` is larger than `number`. A roll-up counts fewer entries than the batches under it in the package.',
    opens: 'Its `v` is not known (§17).',
  },
  'batch.inclusion': {
    meaning: 'Every batch is in the ledger at its stated position.',
    tr: 'Her grup defterde belirtilen yerdedir.',
    required: true,
    fails: 'The path of a batch does not lead to the root of the newest checkpoint.',
    opens: 'The package has no checkpoint that covers the batch.',
  },
  'batch.streams': {
    meaning: 'Every batch, and every roll-up over it, contains the stated runs of events.',
    tr: 'Her grup ve onu özetleyen her toplam, belirtilen olay aralıklarını içerir.',
    required: true,
    fails:
      'The runs and hashes of a batch do not lead to `streams_root`, or are not sorted, or do not tile it (§6). A batch does not show what it has of each stream of the package, with the leaves beside it; or its runs contradict those of another batch, or a roll-up lacks a stream of a batch under it (§6, “Agreement of runs”). The batch of an entry, or a roll-up over it below the checkpoint, is missing or does not show a run that has the revision.',
    opens: 'The version of a roll-up over an entry is not known, or the manifest is not known or states no salt (§17).',
  },
  'batch.tags': {
    meaning: 'Every batch, and every roll-up over it, lists the tag of each of its consents and erasures.',
    tr: 'Her grup ve onu özetleyen her toplam, her rızasının ve silme işleminin etiketini listeler.',
    required: true,
    fails:
      'The tags and hashes of a batch are not in order, or do not lead to `tags_root`. The batch of a consent or erasure, or a roll-up over it below the checkpoint, does not show the tag (§6). Two entries have one tag. A roll-up counts fewer tags than the batches under it in the package.',
    opens: 'The version of a batch is not known (§17).',
  },
  'entry.format': {
    meaning: 'Every entry is strict JSON in canonical form.',
    tr: 'Her girdi, kurallı biçimde yazılmış katı JSON verisidir.',
    required: true,
    fails:
      'A line or its entry is not strict JSON with its shape, the entry is not canonical, or its type demands or forbids `proof_hash` or `person_tag` (§4).',
    opens: 'Its `v` is not known (§17).',
  },
  'entry.order': {
    meaning: 'Entries are in order, and no two entries contradict each other.',
    tr: 'Girdiler sıradadır ve hiçbir iki girdi birbiriyle çelişmez.',
    required: true,
    fails:
      'Entries are not sorted by stream and revision, two have one place, a higher revision of a stream is not later in the ledger, or two have one event id.',
    opens: null,
  },
  'entry.chain': {
    meaning: 'Every entry contains the hash of the previous entry of its stream.',
    tr: 'Her girdi, akışındaki önceki girdinin özetini içerir.',
    required: true,
    fails:
      '`previous` is null above revision 0, or is not null at 0, or is not the leaf hash of the entry with the previous revision, if the package has it. A previous entry that is invalid is not compared.',
    opens: 'The version of the previous entry is not known (§17).',
  },
  'entry.stream': {
    meaning: 'Every entry is in the stream of its site and type.',
    tr: 'Her girdi, sitesinin ve türünün akışındadır.',
    required: true,
    fails:
      'The stream is not that of the site and the type, is of another site than `filter.site_id`, or the record states another site or event id than stream and entry.',
    opens: 'Type or version of the event are not known (§17).',
  },
  'entry.inclusion': {
    meaning: 'Every entry is in its batch at its stated position.',
    tr: 'Her girdi, grubunda belirtilen yerdedir.',
    required: true,
    fails:
      'The batch is not in the package, `index` is not `start + revision − first` of the run, the leaf is not at this index under `root`, or the file of proofs is malformed (§6).',
    opens: 'The batch failed its checks, or its version is not known (§17).',
  },
  'record.format': {
    meaning: 'Every record has exactly the published fields.',
    tr: 'Her kayıt tam olarak yayımlanan alanlara sahiptir.',
    required: true,
    fails:
      'The record does not have the shape of its type (§11). `valid_until` is before `created_at`. A category is true, and one of its `services` false. An objection does not have its form (§11). A record is an account’s, and no backend vouches for the person; or it lacks `scope`, and a record of an earlier batch has it (§11). `vouched`, `approval_token_id` and `identity_assurance` do not agree. `number` of a policy is not its revision plus 1.',
    opens: 'Type, `v` or `hash_version` are not known (§17).',
  },
  'record.proof-hash': {
    meaning: 'The keyed proof hash matches the record (only the tenant can check it).',
    tr: 'Anahtarlı kanıt özeti kayıtla eşleşir (bunu yalnızca site sahibi denetleyebilir).',
    required: false,
    fails: null,
    opens: 'Always, for a consent: only the tenant has the proof key.',
  },
  'disclosure.digest': {
    meaning: 'The record commits to every disclosed value.',
    tr: 'Kayıt, gösterilen her değere bağlanmıştır.',
    required: true,
    fails:
      'A disclosure is malformed, has a name that is not in the list of §5, or has the name or salt of another one of the record. Its digest is not the one that the record has under this name, or its value does not have the published type. The entry is not a consent.',
    opens: null,
  },
  'disclosure.salt': {
    meaning: 'No two disclosed values of the package share a salt.',
    tr: 'Paketteki hiçbir iki gösterilen değerin tuzu aynı değildir.',
    required: false,
    fails: 'Values of two records have the same salt.',
    opens: 'The package discloses more than 4,194,304 values: the salts of the others are not compared.',
  },
  'disclosure.attachment': {
    meaning: 'Every disclosed attachment is included and unchanged.',
    tr: 'Gösterilen her ek pakettedir ve değişmemiştir.',
    required: true,
    fails:
      'The value that refers to an attachment is malformed, or the file is missing, too long, or has another hash or size.',
    opens: null,
  },
  'disclosure.person': {
    meaning: 'A receipt that names the person opens the person tag of its record.',
    tr: 'Kişiyi belirten bir makbuz, kaydının kişi etiketini açar.',
    required: true,
    fails:
      'A line has `person` outside a receipt, without a disclosed `visitor_id` that is not empty, or for an erased record. The tag of `id` and `n` is not that of the entry, or `n` is above its revision plus 1 (§16).',
    opens: 'A receipt discloses a `visitor_id` that is not empty, and has no `person` (§16).',
  },
  'disclosure.complete': {
    meaning: 'If the manifest states that all values are disclosed, the package withholds none.',
    tr: 'Bildirim tüm değerlerin gösterildiğini belirtiyorsa paket hiçbirini gizlemez.',
    required: true,
    fails: null,
    opens:
      '`disclose` is `all`, and a value is withheld of a record that matches the filter, is not erased, and does not have `key_lost`.',
  },
  'disclosure.withheld': {
    meaning: 'Values that the package does not disclose.',
    tr: 'Paketin göstermediği değerler.',
    required: false,
    fails: 'A line with `key_lost` has `erased` or discloses a value.',
    opens: null,
  },
  'document.version': {
    meaning: 'The package includes the text consented to and proves its publication.',
    tr: 'Paket, rıza verilen metni içerir ve yayımlandığını kanıtlar.',
    required: true,
    fails:
      'The file of the text is missing or changed. Its publication is not in the package, is there twice, failed its checks, or is of another text, site or language (§11).',
    opens: 'The checks of the publication are open, or an unknown notice may be it (§17).',
  },
  'document.configuration': {
    meaning: "The package includes the site's configuration and proves its publication.",
    tr: 'Paket, sitenin yapılandırmasını içerir ve yayımlandığını kanıtlar.',
    required: true,
    fails:
      'The file of the configuration is missing or changed. Its publication is not in the package, failed its checks, is of another site, or lacks a category, a service, the rule or the accounts that the consent names (§11).',
    opens: 'The checks of the publication are open, or an unknown event may be it (§17).',
  },
  'document.in-force': {
    meaning: 'The text and the configuration were in force at the consent, which meets what they require.',
    tr: 'Rıza anında metin ve yapılandırma yürürlükteydi ve rıza bunların isteklerini karşılar.',
    required: true,
    fails: 'A rule of §11 (“In force”) is broken.',
    opens:
      'A missing or unknown notice could explain a breach of rules 4 to 6 of §11, or a period that is too long, or cause one.',
  },
  'erasure.proof': {
    meaning: 'A proved erasure in the package names every record that is marked as erased.',
    tr: 'Silindi olarak işaretlenen her kaydı, paketteki kanıtlı bir silme işlemi belirtir.',
    required: true,
    fails:
      '`erased` of a line names no erasure of the package, or one of another stream, an earlier revision, another record, or with failed checks. The erasure of a record does not have the tag of §6.',
    opens: 'The checks of the erasure are open, or its version is not known (§17).',
  },
  'erasure.values': {
    meaning: 'The package discloses no value of an erased record.',
    tr: 'Paket, silinmiş bir kaydın hiçbir değerini göstermez.',
    required: true,
    fails: 'A value is disclosed of a record that is marked as erased or that an erasure in the package names.',
    opens: null,
  },
  'erasure.absent': {
    meaning: 'A package with a filter leaves out no erasure of a record that it contains.',
    tr: 'Süzülmüş bir paket, içerdiği bir kaydın silinmesini dışarıda bırakmaz.',
    required: true,
    fails:
      'In a package with a filter, a record that matches it and is not erased: neither has the package all later events of its stream, nor does each leaf of the cover from its batch on show that the erasure tag is absent (§6).',
    opens: 'An unknown event or batch may be or have the erasure (§17).',
  },
  'completeness.runs': {
    meaning: 'No event is missing within the runs that the package claims to be complete, or at the end of a stream.',
    tr: 'Paketin eksiksiz dediği aralıklarda ve akışların sonunda hiçbir olay eksik değildir.',
    required: true,
    fails:
      'A revision of a run in `complete` is missing, two runs overlap, or one is empty. The package does not have a stream that it must have as a whole (§10), or does not show where it ends (§6).',
    opens: 'An entry of the run, or a header of the cover, has an unknown version (§17).',
  },
  'completeness.policies': {
    meaning: 'The package contains every policy of the ledger that its batch headers count.',
    tr: 'Paket, grup başlıklarının saydığı tüm defter ilkelerini içerir.',
    required: true,
    fails:
      'A header counts another number of policies than the package has up to it, or the last leaf below the checkpoint is missing (§6).',
    opens: 'The last leaf has an unknown version or failed its checks.',
  },
  'completeness.events': {
    meaning: 'The package contains every record that was requested by its event id.',
    tr: 'Paket, olay kimliğiyle istenen her kaydı içerir.',
    required: true,
    fails: null,
    opens: 'A record that `event_ids` names is not in the package.',
  },
  'completeness.person': {
    meaning: 'A package for a person contains every record that the ledger has of the person.',
    tr: 'Bir kişi için hazırlanan paket, defterdeki tüm kayıtlarını içerir.',
    required: true,
    fails:
      'A consent with one of the tags 1 to `records` is missing, or the package does not show that every leaf of the cover lacks the next tag. The disclosed values of `visitor_id` differ. `records` is null without a further restriction, or above 0 without an `id` (§10). A record names another person than the one that the relying party asked about (`--person`).',
    opens:
      '`records` is 0, a record of the person does not disclose `visitor_id`, is not erased, and does not have `key_lost`, or an unknown event or batch may be or have a further record (§17). The relying party asked about a person, and the package is not for one person.',
  },
  'time.stamped': {
    meaning: 'A valid time stamp covers every entry.',
    tr: 'Her girdiyi geçerli bir zaman damgası kapsar.',
    required: true,
    fails: null,
    opens: 'Fewer distinct authorities than required have a valid stamp over the batch of an entry (§9).',
  },
  'time.order': {
    meaning: 'The time stamps of later checkpoints do not have earlier times.',
    tr: 'Sonraki denetim noktalarının damgaları daha erken zamanlı değildir.',
    required: true,
    fails:
      'The genTimes of valid stamps decrease with increasing size by more than the accuracies and one second (§9).',
    opens: null,
  },
  'time.claimed': {
    meaning: "The claimed times agree with the time stamps, and with the ledger's policy.",
    tr: 'Beyan edilen zamanlar zaman damgalarıyla ve defterin ilkesiyle uyumludur.',
    required: true,
    fails:
      '`created_at` or `sealed_at` is later than a time stamp allows (§9, “Claimed times”). `exported_at` is more than 300 s, and the accuracy, before the newest valid stamp.',
    opens: '`created_at` is earlier than the delays of the policy allow, or batch 0 was stamped late (§9).',
  },
  'time.start': {
    meaning: 'Every batch names the newest time stamp that existed when it was sealed.',
    tr: 'Her grup, mühürlendiği anda var olan en yeni zaman damgasını belirtir.',
    required: true,
    fails:
      'Stamps of the checkpoint in `after` are in the package, and none has the digest in `after` (§9, “Older stamps”).',
    opens: 'A batch names no stamp, or not the newest one, and the package does not explain it (§9, “Older stamps”).',
  },
  'time.fresh': {
    meaning: 'The package shows the ledger as of the time at which it was made.',
    tr: 'Paket, defteri paketin hazırlandığı andaki haliyle gösterir.',
    required: true,
    fails: '`exported_at` is more than 300 s after the time of verification.',
    opens: 'The newest stamp over the checkpoint is too old (§9, “State of the package”).',
  },
  'promise.kept': {
    meaning: 'The ledger holds every record that a promise given to the verifier names.',
    tr: 'Defter, doğrulayıcıya verilen taahhütlerdeki her kaydı içerir.',
    required: true,
    fails: 'A genuine promise is broken (§15).',
    opens: 'A promise was kept late, is overdue, is not covered by the package, or is not verified (§15).',
  },
  'package.records': {
    meaning: 'The package contains at least one consent record.',
    tr: 'Pakette en az bir rıza kaydı vardır.',
    required: true,
    fails: null,
    opens: 'The package contains no consent.',
  },
} as const satisfies Record<string, CheckDefinition>;

export type CheckId = keyof typeof CHECKS;

export const CHECK_IDS: readonly CheckId[] = Object.keys(CHECKS).filter((id): id is CheckId => id in CHECKS);

/** Checks that can fail. */
export type FailingCheck = ChecksWith<'fails'>;

/** Checks that can remain undecided. */
export type OpenableCheck = ChecksWith<'opens'>;

type ChecksWith<Rule extends 'fails' | 'opens'> = {
  [Id in CheckId]: (typeof CHECKS)[Id][Rule] extends null ? never : Id;
}[CheckId];
