/** `quorate sync`: waits until a member has all that is committed; says up to which zxid that is. */
import { dataCommand } from '../invocation/command.ts';
import { hex } from '../invocation/render.ts';

export const syncCommand = dataCommand<object>({
  command: 'sync',
  describe: 'Wait until a member has all that is committed now, and print its zxid',
  builder: (argv) => argv,
  prepare: () => async (client, budget) => {
    const zxid = hex(await client.sync(budget()));
    return { json: () => ({ zxid }), text: () => `${zxid}\n` };
  },
});
