import type { DraftProblem, SiteConfigDraft } from '../../../schemas/api/panel/configuration.js';
import type { TcfSettings } from '../../../schemas/iab/iab-settings.js';
import type { VendorList } from '../../../schemas/iab/vendor-list.js';

/** Most vendors that one message names. */
const MOST_NAMED = 10;

/**
 * Why the signals of IAB that a draft states cannot be published.
 * @param list the vendor list that the draft names; null: the operator has no such file
 */
export function* iabProblems(
  { iab, categories }: Pick<SiteConfigDraft, 'iab' | 'categories'>,
  list: VendorList | null,
): Generator<DraftProblem> {
  const optional = new Map(categories.filter(({ required }) => !required).map((one) => [one.key, one]));
  const { tcf, gpp } = iab ?? {};
  if (gpp?.cmp_id === 0) {
    const message = 'must be 1 for a platform that is not registered (IAB Tech Lab, CMP API of GPP, “What is CMP ID?”)';
    yield { field: 'iab.gpp.cmp_id', message };
  }
  for (const key of gpp?.opt_out ?? []) {
    if (!optional.has(key)) yield { field: 'iab.gpp.opt_out', message: noCategory(key) };
  }
  if (tcf === undefined) return;
  if (!isCountry(tcf.publisher_country)) {
    const message = `${tcf.publisher_country} is not a country of ISO 3166-1; the United Kingdom is GB`;
    yield { field: 'iab.tcf.publisher_country', message };
  }
  for (const name of ['purposes', 'special_features'] as const) {
    for (const key of Object.keys(tcf[name])) {
      const category = optional.get(key);
      if (category === undefined) yield { field: `iab.tcf.${name}.${key}`, message: noCategory(key) };
      else if (category.lawful_basis !== 'consent') {
        const message = `the category ${key} must have the lawful basis consent: the TC string states consent`;
        yield { field: `iab.tcf.${name}.${key}`, message };
      }
    }
    const numbers = Object.values(tcf[name]).flat();
    if (new Set(numbers).size !== numbers.length) {
      const message = 'a number is given to two categories, so that one answer could not be told from the other';
      yield { field: `iab.tcf.${name}`, message };
    }
  }
  yield* listProblems(tcf, list);
}

function* listProblems({ vendor_list: named, vendors }: TcfSettings, list: VendorList | null): Generator<DraftProblem> {
  if (list === null) {
    const message = `the operator has no vendor list with the SHA-256 ${named.sha256} (variable IAB_VENDOR_LISTS)`;
    yield { field: 'iab.tcf.vendor_list.sha256', message };
    return;
  }
  if (list.vendorListVersion !== named.version) {
    const message = `the file has the version ${list.vendorListVersion}, not ${named.version}`;
    yield { field: 'iab.tcf.vendor_list.version', message };
  }
  const unknown = vendors.filter((id) => {
    const vendor = list.vendors[id];
    return vendor === undefined || vendor.deletedDate !== undefined;
  });
  if (unknown.length > 0) {
    const message = `the vendor list does not have ${unknown.slice(0, MOST_NAMED).join(', ')}${unknown.length > MOST_NAMED ? ' and others' : ''}`;
    yield { field: 'iab.tcf.vendors', message };
  }
}

/** Whether a code of two capital letters is one that ISO 3166-1 assigns today. */
function isCountry(code: string): boolean {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const isAssigned =
    names.of(code) !== undefined && !/^(?:X[A-Z]|Q[M-Z]|AA|ZZ|E[UZ]|UN|AC|CP|CQ|DG|EA|IC|TA)$/.test(code);
  return isAssigned && new Intl.Locale('und', { region: code }).region === code;
}

function noCategory(key: string): string {
  return `there is no category ${key} that visitors can refuse`;
}
