/** The decisions of a month. */
export const statistics = {
  title: 'Statistics',
  lead: 'Decisions of a month (UTC) that is over, to be passed on: a number below 10 says “fewer than 10”, and does not follow from the others.',
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
  noMonth: 'No other month',
  show: 'Show',
  rate: 'Acceptance rate',
  fewer: 'Fewer than 10',
  hidden: 'Not shown',
  hiddenHint: '“Not shown” is a number of 10 or more that, with the sum, would give a smaller one away.',
  version: (number: string) => `Version ${number}`,
  below: (month: string) => `Below each number: ${month}.`,
  none: 'No consents were recorded in this month.',
  save: 'Save as CSV',
  limits: 'What is not counted',
  limitTexts: {
    optOuts: 'Opt-outs of a sale are counted by their type alone: whoever accepts one refuses something.',
    imports: 'Imported consents are not counted.',
    personal:
      'Country, device and the control that was pressed are personal values: they are encrypted and can be erased, so nothing is counted by them.',
    shown:
      'How often the banner was shown is not known: caches and browsers ask for its texts by themselves, and counting visitors would take a new signal from each device.',
  },
};
