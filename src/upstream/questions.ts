import type { Question, Withdraw } from '../ports/link.ts';
import { errorText } from '../protocol/compose.ts';
import { type Id, idField, type Notification, progressToken, type Request } from '../protocol/envelope.ts';
import { Fault, faultError, METHOD_NOT_FOUND, type WireError } from '../protocol/errors.ts';
import { rewriteNotification, rewriteResponse } from '../protocol/rewrite.ts';

export interface QuestionsDeps {
  /** Absent where no one client is behind the link. */
  readonly asked: ((question: Question) => Withdraw) | undefined;
  readonly send: (text: string) => void;
  /** Sends what may be lost. */
  readonly say: (text: string) => void;
  /** Called while a question is open, which is no time the upstream needs; returns the way to go on. */
  readonly hold: () => () => void;
}

interface Open {
  readonly withdraw: Withdraw;
  readonly goOn: () => void;
}

/** Open at once on one link. */
const MAX_OPEN = 16;
const NOBODY: WireError = { code: METHOD_NOT_FOUND, message: 'Method not found' };

/** What one upstream has asked the client behind its link and has no answer to yet, by the upstream's own ids. */
export class Questions {
  private readonly deps: QuestionsDeps;
  private readonly open = new Map<Id, Open>();

  constructor(deps: QuestionsDeps) {
    this.deps = deps;
  }

  ask(request: Request): void {
    const { id } = request;
    const { asked } = this.deps;
    if (asked === undefined) return this.refuse(id, NOBODY);
    if (this.open.has(id) || this.open.size >= MAX_OPEN) return this.refuse(id, faultError(new Fault('at_capacity')));
    const goOn = this.deps.hold();
    let withdraw: Withdraw = () => {};
    this.open.set(id, { goOn, withdraw: (notification) => withdraw(notification) });
    withdraw = asked(this.question(request));
  }

  /** The upstream cancels what it asked; unknown ids are ignored. */
  cancelled(notification: Notification): void {
    const id = idField(notification.text, notification.params, 'requestId');
    if (id !== undefined) this.take(id)?.withdraw(notification);
  }

  /** The link is gone: nobody waits for answers. */
  close(): void {
    for (const id of [...this.open.keys()]) this.take(id)?.withdraw();
  }

  private question(request: Request): Question {
    const { id } = request;
    return {
      request,
      answer: (response) => {
        if (this.take(id) !== undefined) this.deps.send(rewriteResponse(response, id));
      },
      refuse: (error) => {
        if (this.take(id) !== undefined) this.refuse(id, error);
      },
      progress: (notification) => {
        const token = progressToken(request);
        if (token === undefined || !this.open.has(id)) return;
        this.deps.say(rewriteNotification(notification, { progressToken: token }));
      },
    };
  }

  private take(id: Id): Open | undefined {
    const found = this.open.get(id);
    this.open.delete(id);
    found?.goOn();
    return found;
  }

  private refuse(id: Id, error: WireError): void {
    this.deps.send(errorText(id, error));
  }
}
