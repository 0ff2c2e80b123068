import stubTcf from '@iabtechlabtcf/stub';

/** A call of the page that waits for `speakIab`, which asks for all of them by a call without arguments. */
type Call = readonly unknown[];

declare global {
  interface Window {
    __gpp?: (...call: Call) => unknown;
  }
}

/**
 * Entry of the script that a page includes before scripts of advertisers: it keeps their calls until the
 * SDK answers, and answers frames of the page by messages.
 */
stubTcf();
stubGpp();

function stubGpp(): void {
  if (window.__gpp !== undefined || 'frames' in window === false) return;
  const calls: Call[] = [];
  window.__gpp = (...call) => {
    const [command, callback] = call;
    if (call.length === 0) return calls;
    if (command === 'ping' && typeof callback === 'function') {
      const data = { gppVersion: '1.1', cmpStatus: 'stub', cmpDisplayStatus: 'hidden', signalStatus: 'not ready' };
      callback({ ...data, supportedAPIs: [], cmpId: 0, sectionList: [], applicableSections: [], gppString: '' }, true);
    } else calls.push(call);
    return undefined;
  };
  addLocator();
  addEventListener('message', answerFrame);
}

/** Frames find the window that answers by a child frame of this name. */
function addLocator(): void {
  if (document.body === null) {
    document.addEventListener('DOMContentLoaded', addLocator, { once: true });
    return;
  }
  const frame = document.createElement('iframe');
  frame.hidden = true;
  frame.name = '__gppLocator';
  frame.title = '';
  document.body.append(frame);
}

function answerFrame({ data, source }: MessageEvent): void {
  const text: unknown = data;
  const message: unknown = typeof text === 'string' ? parsed(text) : text;
  const call = memberOf(message, '__gppCall');
  const command = memberOf(call, 'command');
  if (command === undefined || source === null) return;
  const callId = memberOf(call, 'callId');
  const answer = (returnValue: unknown, success: unknown): void => {
    const reply = { __gppReturn: { returnValue, success, callId } };
    source.postMessage(typeof text === 'string' ? JSON.stringify(reply) : reply, { targetOrigin: '*' });
  };
  window.__gpp?.(command, answer, memberOf(call, 'parameter'), memberOf(call, 'version'));
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
