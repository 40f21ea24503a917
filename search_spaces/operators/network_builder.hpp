#pragma once

#include "genome/genes/wiring.hpp"
#include "search_spaces/operators/own_operator.hpp"

#include <span>
#include <utility>

namespace clade {

/// No layer has more elements for one example, so that sizes and costs cannot overflow.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 28;

/// No network has more layers: composites may repeat composites.
inline constexpr std::size_t most_layers = 1 << 16;

/// Returns an error of a genome, or of a problem, that decode() does not take.
[[nodiscard]] tl::unexpected<error> refuse_network(std::string message);

/// Decodes one genome: see decode(). The order of layers stands at the top of network.cpp.
class network_builder {
public:
  network_builder(const search_space& space, const genome& g, const problem& p)
      : space_(space),
        genome_(g),
        problem_(p),
        wires_(g) {}

  expected<network> build();

private:
  /// For the body of an over_time, whose problem is that of one step.
  network_builder(const search_space& space, const genome& g, const problem& step,
                  std::int64_t steps)
      : network_builder(space, g, step) {
    steps_of_body_ = steps;
  }
  [[nodiscard]] bool is_body() const { return steps_of_body_ > 0; }
  using index = std::size_t;
  using indices = std::vector<index>;

  expected<void> check_problem() const;
  expected<void> check_wires() const;
  void add_examples();
  expected<void> add_input();
  expected<void> add_node(wiring::index node);
  /// The nodes in their order.
  expected<void> add_nodes(std::span<const wiring::index> nodes);
  /// Returns what enters a node, merged, and in a layout that its operator works on.
  expected<index> entrance_of(wiring::index node, const operator_entry& entry);

  // For spaces with recurrent edges (steps_of_time.cpp):

  expected<void> add_steps_of_time();
  /// Returns the layers that each step goes through.
  expected<std::vector<layer>> body();
  /// Adds the recalls of a node whose other inputs are of the present, and puts them before
  /// these.
  expected<void> add_recalls(wiring::index node, indices& inputs);
  void connect_recalls();

  expected<index> add(std::string name, const operator_entry& entry, indices inputs,
                      const std::vector<setting>& given);
  /// The layers of any operator that takes one input, in a layout that it works on;
  /// returns the last. The functions for composites are in composite_layers.cpp.
  expected<index> add_operator(const std::string& name, const operator_entry& entry,
                               index input, const std::vector<setting>& given);
  expected<index> add_parts(const std::string& name, const operator_entry& entry,
                            index input, const std::vector<setting>& given);
  expected<index> add_own(const std::string& name, const own_operator& own, index input,
                          const std::vector<setting>& given);
  /// Has the layers from `begin` on, which are a repetition's, share the weights of those from
  /// `first` on.
  void share_weights(const std::string& name, const std::string& repetition, index first,
                     index begin);
  /// The layers of a repetition of a composite, or of a production, with the derivations of
  /// those that rules make.
  expected<index> add_layers(const std::string& name, const own_operator& own,
                             index input, const std::vector<setting>& complete,
                             std::int64_t repetition, const layer_rules* rules,
                             std::span<const derivation> parts);
  expected<index> add_derivation(const std::string& name, const layer_rules& rules,
                                 const derivation& d, index input);
  expected<index> add_own_layer(const std::string& name, const own_operator& own,
                                const operator_entry& entry, index input,
                                const std::vector<setting>& settings);
  /// Says of the layers from `first` on, which a layer of a composite has become, which
  /// parameter chose them (layer::chosen_by).
  void name_choices(const own_operator& own, const own_layer& l, std::string_view op,
                    index first, index last);
  expected<index> merged(const std::string& name, std::string_view op, indices inputs);
  expected<index> multiply(const std::string& name, indices inputs);
  expected<index> adapter(const std::string& name, std::string_view op, indices inputs,
                          const std::vector<setting>& given = {});
  /// The layer that gives what `input` gives in the layout `to`: an adapter named after
  /// its operator, with `number` behind it, or `input` itself.
  expected<index> adapt(const std::string& name, index input, layout to,
                        const std::string& number = "");
  /// `ending`: of the last layer's name, so that it is no other's; empty: its operator.
  expected<index> merge(const std::string& name, bool concat, indices inputs,
                        const std::string& ending = "");
  /// The composite of the file that the row is of; null: it is none.
  [[nodiscard]] const own_operator* find_own(const operator_entry& entry) const;
  /// The layout to which an operator's input is adapted that it does not take.
  [[nodiscard]] layout wanted_by(const operator_entry& entry) const;
  expected<void> fit_images(const std::string& name, indices& inputs);
  expected<void> fit_sequences(const std::string& name, indices& inputs);
  expected<void> fit_channels(const std::string& name, indices& inputs);
  expected<indices> sources(wiring::index node) const;
  expected<void> check_limits() const;
  void cut_kernel(const operator_entry& entry, const tensor_shape& in,
                  std::vector<setting>& settings) const;

  const tensor_shape& out(index layer) const { return network_.layers[layer].out; }

  const search_space& space_;
  const genome& genome_;
  const problem& problem_;
  wiring wires_;
  network network_;
  std::vector<index> last_layer_;  ///< The last layer of each node.
  std::int64_t steps_of_body_ = 0; ///< The length of the sequence; 0: this is no body.
  /// Recalls, and the nodes of which they are: these may come later.
  std::vector<std::pair<index, wiring::index>> recalls_;
};

} // namespace clade
