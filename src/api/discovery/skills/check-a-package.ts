/** SKILL.md, which the service publishes; a test runs its commands on a package that a running service made. */
export const CHECK_A_PACKAGE = `---
name: check-a-package
description: Checks an evidence package (ZIP) that Consent Ledger exported, offline and without trust in the service, with consent-verify or by hand with openssl, and explains the verdict. Use when a user has consent evidence, or asks what it proves.
license: Apache-2.0
compatibility: Needs bash, unzip, sed, sha256sum and openssl 3; consent-verify comes with Consent Ledger (Node 20.19 or later). No network.
metadata:
  title: Check an evidence package
---

# Check an evidence package

## What you need

- \`PACKAGE\`: path of the ZIP.
- \`TSA_CA\`: root certificate of the time stamp authority (PEM), from the authority itself.
- \`LEDGER_KEY\`: file with the ledger's public key, from its operator: a letter, a contract, a page that you trust. The service publishes it at
  \`/checkpoints/ledger.vkey\`, for comparison only.

Never take the two from the package or from its sender: a forger would supply keys of their own. Without the ledger's key the origin of the records is
unknown, and the verdict is indeterminate.

## With consent-verify

In a checkout of Consent Ledger, after \`npm ci\`, it is \`node verifier-cli/bin/consent-verify.js\`.
Without one, save \`/verify/consent-verify.html\` from the service or another copy, open it in a
browser, and drop the package on it: it does the same without a network.

~~~sh
consent-verify check "$PACKAGE" --tsa-ca "$TSA_CA" --ledger-key "$LEDGER_KEY"
~~~

| Exit code | Verdict | Meaning |
|---|---|---|
| 0 | valid | Every required check passed, for the package and for each record. |
| 1 | invalid | At least one check failed: a part was altered, omitted or forged. The report names file, line and record. |
| 2 | none | Usage error, or the file is not a ZIP with a manifest. |
| 3 | indeterminate | No check failed, but a required one was not possible: no key or root was given, a revocation list is missing, or a record is not stamped yet. |

\`--json\` prints the report as JSON, \`--html FILE\` writes it as a page. For one record:

~~~sh
RECORD=$(unzip -p "$PACKAGE" entries.ndjson | grep -m 1 'ConsentRecorded' | sed 's/.*\\\\"event_id\\\\":\\\\"\\([0-9a-f-]*\\)\\\\".*/\\1/')
consent-verify show "$PACKAGE" "$RECORD" --tsa-ca "$TSA_CA" --ledger-key "$LEDGER_KEY"
~~~

Report the verdict as it is. Do not call an indeterminate package valid, and repeat what the report does not prove: who the person was, that
everything was recorded, and that every verifier sees the same ledger.

## By hand

Each package contains a \`README.txt\` with every step down to one record. Its first steps need only common tools:

~~~sh
mkdir unpacked
unzip -q "$PACKAGE" -d unpacked
cd unpacked
sed -n 's/^    "\\(.*\\)": "\\([0-9a-f]\\{64\\}\\)",\\{0,1\\}$/\\2  \\1/p' manifest.json | sha256sum --check --quiet
SIZE=$(ls checkpoints | sed -n 's/\\.note$//p' | sort -n | tail -n 1)
for STAMP in "checkpoints/$SIZE".*.tsr; do
  openssl ts -verify -data "checkpoints/$SIZE.note" -in "$STAMP" -CAfile "$TSA_CA"
  openssl ts -reply -in "$STAMP" -text | grep 'Time stamp:'
done
~~~

The files are then those that the manifest lists, and the ledger at that size existed at the printed time. \`README.txt\` continues with the ledger's signature, and
the path from a record to that ledger.
`;
