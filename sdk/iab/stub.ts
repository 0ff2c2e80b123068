/**
 * Entry of the script that a page includes before scripts of advertisers: it keeps their calls until the SDK answers,
 * and answers frames of the page by messages. The SDK takes over what was kept by a call without arguments.
 */
import { keepLocator } from './locator.js';

type Call = readonly unknown[];
type Api = '__tcfapi' | '__gpp';
interface State {
  cmpStatus: 'stub' | 'error';
}

declare global {
  var __tcfapi: ((...call: Call) => unknown) | undefined;
  var __gpp: ((...call: Call) => unknown) | undefined;
}

/** Commands that `__gpp` answers at once, without a value, as long as nothing is known (CMP API of GPP, “generic commands”). */
const WITHOUT_VALUE: readonly unknown[] = ['hasSection', 'getSection', 'getField'];

start();

function start(): void {
  const state: State = { cmpStatus: 'stub' };
  const gpp = gppStub(state);
  install('__tcfapi', tcfStub(state));
  install('__gpp', gpp.call);
  // The SDK could not load the file that sends the signals, for example because the service is unavailable.
  addEventListener('consent-ledger-error', () => {
    state.cmpStatus = 'error';
    gpp.tell();
  });
}

/** Another consent platform, or this script a second time, must not lose what the first one keeps. */
function install(api: Api, stub: (...call: Call) => unknown): void {
  if (globalThis[api] !== undefined) return;
  globalThis[api] = stub;
  keepLocator(`${api}Locator`);
  addEventListener('message', (event) => answerFrame(api, event));
}

function tcfStub(state: State): (...call: Call) => unknown {
  const calls: Call[] = [];
  let gdprApplies: unknown;
  return (...call) => {
    const [command, , callback, value] = call;
    if (call.length === 0) return calls;
    if (command === 'setGdprApplies') {
      if (typeof value === 'boolean') gdprApplies = value;
      answer(callback, 'set', true);
    } else if (command === 'ping') answer(callback, { gdprApplies, cmpLoaded: false, ...state, apiVersion: '2' }, true);
    else calls.push(call);
    return undefined;
  };
}

function gppStub(state: State): { readonly call: (...call: Call) => unknown; readonly tell: () => void } {
  const calls: Call[] = [];
  let events: { readonly id: number; readonly callback: unknown; readonly parameter: unknown }[] = [];
  let last = 0;
  const pingData = () => ({
    gppVersion: '1.1',
    ...state,
    cmpDisplayStatus: 'hidden',
    signalStatus: 'not ready',
    supportedAPIs: [],
    cmpId: 0,
    sectionList: [],
    applicableSections: [],
    gppString: '',
    parsedSections: {},
  });
  const event = (eventName: string, listenerId: unknown, data: unknown) => ({
    eventName,
    listenerId,
    data,
    pingData: pingData(),
  });
  return {
    call: (...call) => {
      const [command, callback, parameter] = call;
      if (call.length === 0) return calls;
      if (command === 'events') return events;
      if (command === 'ping') answer(callback, pingData(), true);
      else if (command === 'addEventListener') {
        last += 1;
        events.push({ id: last, callback, parameter });
        answer(callback, event('listenerRegistered', last, true), true);
      } else if (command === 'removeEventListener') {
        const count = events.length;
        events = events.filter(({ id }) => id !== parameter);
        answer(callback, event('listenerRemoved', parameter, events.length < count), true);
      } else if (WITHOUT_VALUE.includes(command)) answer(callback, null, true);
      else calls.push(call);
      return undefined;
    },
    tell: () => {
      for (const { id, callback } of events)
        setTimeout(() => answer(callback, event('cmpStatus', id, state.cmpStatus), true));
    },
  };
}

function answer(callback: unknown, value: unknown, success: boolean): void {
  if (typeof callback === 'function') callback(value, success);
}

/** The window that asked stays known until the last answer, which a listener gets long after its message. */
function answerFrame(api: Api, { data, source }: MessageEvent): void {
  const text: unknown = data;
  const call = memberOf(typeof text === 'string' ? parsed(text) : text, `${api}Call`);
  const command = memberOf(call, 'command');
  if (command === undefined || source === null) return;
  const callId = memberOf(call, 'callId');
  const reply = (returnValue: unknown, success: unknown): void => {
    const message = { [`${api}Return`]: { returnValue, success, callId } };
    source.postMessage(typeof text === 'string' ? JSON.stringify(message) : message, { targetOrigin: '*' });
  };
  const [parameter, version] = [memberOf(call, 'parameter'), memberOf(call, 'version')];
  if (api === '__gpp') globalThis.__gpp?.(command, reply, parameter, version);
  else globalThis.__tcfapi?.(command, version, reply, parameter);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
