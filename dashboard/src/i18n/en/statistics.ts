/** The decisions of a month. */
export const statistics = {
  title: 'Statistics',
  lead: 'Decisions in a completed month (UTC). You can pass these tables on: a number below 10 is shown as “Fewer than 10” and cannot be worked out from the others.',
  by: 'By',
  bys: {
    language: 'Language',
    framework: 'Law',
    category: 'Category',
    type: 'Type',
    channel: 'Channel',
    version: 'Version of the banner',
  },
  month: 'Month',
  beside: 'Compare with',
  noMonth: 'No comparison',
  show: 'Show',
  rate: 'Acceptance rate',
  fewer: 'Fewer than 10',
  hidden: 'Not shown',
  hiddenHint:
    '“Not shown” is a number of 10 or more. Together with the totals of the month, it could reveal a number below 10.',
  version: (number: string) => `Version ${number}`,
  below: (month: string) => `Below each number: ${month}.`,
  none: 'No consents were recorded in this month.',
  save: 'Save as CSV',
  limits: 'What is not counted',
  limitTexts: {
    optOuts:
      'Opt-outs of a sale are counted only in the table by type, and in no acceptance rate: accepting one means refusing the sale.',
    imports: 'Imported consents are not counted.',
    personal:
      'Country, device and the control that was pressed are personal values: they are encrypted and can be erased, so nothing is counted by them.',
    shown:
      'How often the banner was shown is not known: caches and browsers ask for its texts by themselves, and counting would require a new signal from each device.',
  },
};
