import type { PolicyTemplate } from './policy-template.js';

export const template: PolicyTemplate = {
  title: 'Cookie and privacy policy',
  content: `# Cookie and privacy policy

## Who is responsible

The controller of the processing that is described here is [[who: legal name and address of the controller]].

## What we process, and why

This site uses what it needs to work, without asking. It uses everything else only with your consent.

[[what: for each purpose: the data and cookies, the purpose itself, and the lawful basis]]

## Who receives the data

[[recipients: who receives which data, in which country, and with which safeguards]]

## How long the data are kept

[[periods: for each purpose, the period, or how it is determined]]

## Your rights

You can withdraw your consent at any time in the cookie settings. This does not change that the processing before the withdrawal was lawful.

[[rights: which rights people have, how they use them, and where they can lodge a complaint]]

## Contact

[[contact: how people reach you, and your data protection officer if you have one]]
`,
};
