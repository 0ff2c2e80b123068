import type { PolicyTemplate } from './policy-template.js';

export const template: PolicyTemplate = {
  title: 'Cookie- und Datenschutzerklärung',
  content: `# Cookie- und Datenschutzerklärung

## Wer verantwortlich ist

Verantwortlicher für die hier beschriebene Verarbeitung ist [[who: Name und Anschrift des Verantwortlichen]].

## Was wir verarbeiten und wozu

Was diese Website zum Funktionieren benötigt, verwendet sie ohne Nachfrage. Alles andere verwendet sie nur mit Ihrer Einwilligung.

[[what: je Zweck: die Daten und Cookies, der Zweck selbst und die Rechtsgrundlage]]

## Wer die Daten erhält

[[recipients: wer welche Daten erhält, in welchem Land und mit welchen Garantien]]

## Wie lange die Daten gespeichert werden

[[periods: je Zweck die Speicherdauer oder die Kriterien für ihre Festlegung]]

## Ihre Rechte

Sie können Ihre Einwilligung jederzeit in den Cookie-Einstellungen widerrufen. Die Rechtmäßigkeit der Verarbeitung bis zum Widerruf bleibt davon unberührt.

[[rights: welche Rechte betroffene Personen haben, wie sie diese ausüben und wo sie sich beschweren können]]

## Kontakt

[[contact: wie man Sie erreicht und, falls vorhanden, Ihren Datenschutzbeauftragten]]
`,
};
