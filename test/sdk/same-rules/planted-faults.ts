import type { Adapter, Device, DeviceStorage, OpenConsent } from '../../../sdk/conformance/src/index.js';
import { appAdapter } from './app-adapter.js';

type Body = Readonly<Record<string, unknown>>;

/** The SDK for apps with a fault, and the rule that it breaks by it. */
interface PlantedFault {
  readonly adapter: Adapter;
  readonly rule: string;
}

/** The SDK for apps with a fault. @param fault what it does otherwise */
export function faulty(name: string, fault: (sound: OpenConsent, device: Device) => Partial<OpenConsent>): Adapter {
  return {
    name,
    open: async (device) => {
      const sound = await appAdapter.open(device);
      const consent: OpenConsent = Object.create(sound, Object.getOwnPropertyDescriptors(fault(sound, device)));
      return consent;
    },
  };
}

/** The SDK for apps, whose records state something else. @param change what a body states otherwise */
function rewriting(name: string, change: (body: Body, device: Device) => Body): Adapter {
  return {
    name,
    open: (device) =>
      appAdapter.open({
        ...device,
        fetch: (url, init) =>
          device.fetch(
            url,
            typeof init?.body === 'string'
              ? { ...init, body: JSON.stringify(change(JSON.parse(init.body), device)) }
              : init,
          ),
      }),
  };
}

/** A member of cookie records with another value. */
function cookieMember(name: string, value: unknown): Adapter {
  return rewriting(`cookie records with ${name} ${value}`, (body) =>
    body.consent_type === 'cookie' ? { ...body, [name]: value } : body,
  );
}

/** A member of opt-outs with another value. */
function optOutMember(name: string, value: unknown): Adapter {
  return rewriting(`opt-outs with ${name} ${value}`, (body) =>
    body.consent_type === 'cookie' ? body : { ...body, [name]: value },
  );
}

/** All answers of the records of some decisions are another one. */
function answering(value: boolean, ...decisions: readonly string[]): Adapter {
  return rewriting(`${decisions.join()} with every category ${value}`, (body) =>
    decisions.includes(String(body.decision)) && body.categories instanceof Object
      ? { ...body, categories: Object.fromEntries(Object.keys(body.categories).map((key) => [key, value])) }
      : body,
  );
}

/** Permits a service for as long as the device has it, once it was permitted. @param when when it sticks */
function sticking(name: string, when: (sound: OpenConsent, device: Device) => boolean): Adapter {
  const permitted = permittedOn();
  return faulty(name, (sound, device) => ({
    allowsService: (service) => {
      const known = permitted(device.storage);
      if (sound.allowsService(service)) known.add(service);
      return sound.allowsService(service) || (known.has(service) && when(sound, device));
    },
  }));
}

/** Names that were permitted on each device. */
function permittedOn(): (storage: DeviceStorage) => Set<string> {
  const byDevice = new WeakMap<DeviceStorage, Set<string>>();
  return (storage) => {
    const known = byDevice.get(storage) ?? new Set();
    byDevice.set(storage, known);
    return known;
  };
}

function returning(): Adapter {
  const permitted = permittedOn();
  return faulty('forgets a partial withdrawal', (sound, device) => {
    const before = new Set(permitted(device.storage));
    let hasActed = false;
    return {
      allows: (category) => {
        const isAllowed = sound.allows(category);
        if (isAllowed) permitted(device.storage).add(category);
        return isAllowed || (!hasActed && sound.state.choice?.decision === 'partial' && before.has(category));
      },
      choose: (...answers) => {
        hasActed = true;
        return sound.choose(...answers);
      },
    };
  });
}

/** Permits each service that was ever switched on, beside those of the choice. */
function adding(): Adapter {
  const permitted = permittedOn();
  return faulty('adds services and takes none away', (sound, device) => ({
    allowsService: (service) =>
      sound.allowsService(service) ||
      (sound.state.choice?.decision === 'partial' && permitted(device.storage).has(service)),
    choose: (categories, services = {}) => {
      for (const [service, isOn] of Object.entries(services)) if (isOn) permitted(device.storage).add(service);
      return sound.choose(categories, services);
    },
  }));
}

/** Permits everything at a later start, until the configuration has been read again. @param when under which signal */
function readingAgain(name: string, when: (device: Device) => boolean): Adapter {
  return {
    name,
    open: async (device) => {
      const isLater = (await device.storage.keys()).length > 0;
      let reading = 0;
      const sound = await appAdapter.open({
        ...device,
        fetch: async (url, init) => {
          reading += 1;
          return device.fetch(url, init).finally(() => {
            reading -= 1;
          });
        },
      });
      const fault: Partial<OpenConsent> = {
        allows: (category) => (isLater && reading > 0 && when(device)) || sound.allows(category),
      };
      const consent: OpenConsent = Object.create(sound, Object.getOwnPropertyDescriptors(fault));
      return consent;
    },
  };
}

const stated =
  'states in every record what was decided and when, the text that it answers, the law and the country' as const;
const reference =
  'records everything of one device under one reference, that neither another device nor the time gives away' as const;
const later = 'states the time and the text of a choice that is recorded hours later, not those of its record' as const;
const ofSignal = 'states in the record of a signal what it does, and that it was one' as const;

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    adapter: faulty('permits while loading', (sound) => ({
      allows: (category) => sound.state.status === 'loading' || sound.allows(category),
    })),
    rule: 'permits nothing optional before the configuration arrives, and asks when it does',
  },
  {
    adapter: faulty('permits services while loading', (sound) => ({
      allowsService: (service) => sound.state.status === 'loading' || sound.allowsService(service),
    })),
    rule: 'permits nothing optional before the configuration arrives, and asks when it does',
  },
  {
    adapter: faulty('permits without a network', (sound) => ({
      allows: (category) => sound.state.error?.code === 'NO_ANSWER' || sound.allows(category),
    })),
    rule: 'permits nothing optional at a first start without a network, says why, and asks when there is one',
  },
  {
    adapter: readingAgain('permits while it reads again', () => true),
    rule: 'keeps nothing permitted that was withdrawn while the configuration is read again',
  },
  {
    adapter: readingAgain('permits under the signal while it reads again', (device) => device.isSignalled()),
    rule: 'lets the signal end what was permitted also while the configuration is on its way, and without a network',
  },
  {
    adapter: returning(),
    rule: 'keeps nothing permitted that was withdrawn in part, also at later starts and without a network',
  },
  ...[
    'asks nothing and permits nothing optional while the signal is on',
    'lets the signal end at once what an earlier choice permitted',
    'lets the signal end what a switch of a service permitted',
  ].map((rule, at) => ({
    adapter:
      at === 0
        ? faulty('permits services under the signal', (sound, device) => ({
            allowsService: (service) => device.isSignalled() || sound.allowsService(service),
          }))
        : sticking('keeps services under the signal', (_, device) => device.isSignalled()),
    rule,
  })),
  {
    adapter: sticking('keeps a service that was switched off', ({ state }) => state.choice?.decision === 'partial'),
    rule: 'keeps no service permitted that was switched off, also at the next start',
  },
  {
    adapter: adding(),
    rule: 'keeps no service permitted that was switched off, also at the next start',
  },
  ...[
    'asks again after another version of the policy, and permits nothing optional meanwhile',
    'asks again for an added category, and permits nothing optional meanwhile',
    'asks again after the days for which a choice is valid',
    'permits no service by its switch when the visitor is asked again by another version, or the choice has expired',
  ].map((rule) => ({
    adapter: sticking('keeps services while it asks again', ({ state }) => state.status === 'needed'),
    rule,
  })),
  ...[
    'ends a choice that the service refuses, and says why',
    'permits no service by its switch if the service refuses the record',
  ].map((rule) => ({
    adapter: faulty('permits services of a refused record', (sound) => ({
      allowsService: (service) => sound.state.error?.code === 'VALIDATION_ERROR' || sound.allowsService(service),
    })),
    rule,
  })),
  {
    adapter: faulty('permits services without a configuration', (sound) => ({
      allowsService: (service) => sound.state.status === 'unavailable' || sound.allowsService(service),
    })),
    rule: 'permits nothing optional without a configuration, and says why',
  },
  { adapter: rewriting('one visitor', (body) => ({ ...body, visitor_id: 'the-same-for-everyone' })), rule: reference },
  { adapter: visitorByTime(), rule: reference },
  { adapter: answering(true, 'rejected'), rule: stated },
  { adapter: answering(true, 'withdrawn'), rule: stated },
  { adapter: answering(false, 'accepted'), rule: stated },
  { adapter: answering(true, 'withdrawn'), rule: ofSignal },
  ...['document_version_id', 'language', 'visitor_country', 'compliance_framework'].flatMap((name) => [
    { adapter: cookieMember(name, 'wrong'), rule: stated },
    { adapter: cookieMember(name, undefined), rule: stated },
    { adapter: optOutMember(name, 'wrong'), rule: stated },
    { adapter: optOutMember(name, undefined), rule: ofSignal },
  ]),
  {
    adapter: faulty('takes objections back', (sound) => ({
      acceptAll: () => sound.choose({ analytics: true, marketing: true }),
    })),
    rule: 'runs what is exempt from consent, asks for the rest, and keeps an objection until it is taken back',
  },
  {
    adapter: cookieMember('rule_id', undefined),
    rule: 'takes the refusal of everything for an objection as well, and consent to the rest for no consent to it',
  },
  {
    adapter: faulty('runs on', (sound) => ({ allows: () => sound.state.choice === null })),
    rule: 'ends what ran, and asks, where the visitor comes to a place that waits for consent',
  },
  { adapter: cookieMember('metadata', undefined), rule: stated },
  { adapter: optOutMember('metadata', undefined), rule: stated },
  {
    adapter: rewriting('refusals without a service', (body) =>
      body.services instanceof Object && body.decision !== 'accepted' ? { ...body, services: { maps: false } } : body,
    ),
    rule: stated,
  },
  {
    adapter: cookieMember('document_version_id', 'v1'),
    rule: 'states in every record after a change the version, the categories and the region that the site has now',
  },
  {
    adapter: optOutMember('compliance_framework', 'gdpr'),
    rule: 'states in every record after a change the version, the categories and the region that the site has now',
  },
  {
    adapter: rewriting('the time at which a record is sent', (body, device) => ({
      ...body,
      metadata: { chosen_at: new Date(device.now()).toISOString() },
    })),
    rule: later,
  },
];

/** A reference that whoever knows the time of the first record can work out. */
function visitorByTime(): Adapter {
  const first = new WeakMap<DeviceStorage, number>();
  return rewriting('a visitor by time', (body, device) => {
    const at = first.get(device.storage) ?? device.now();
    first.set(device.storage, at);
    return { ...body, visitor_id: at.toString(16).padStart(32, '0') };
  });
}
