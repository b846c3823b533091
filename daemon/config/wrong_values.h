// What is wrong with values of the configuration, one by one: a sentence that follows the key; empty if nothing is.
#pragma once

#include <string>

namespace spindled {

std::string wrong_name(const std::string& value);
std::string wrong_socket_path(const std::string& value);
std::string wrong_file(const std::string& value);
std::string wrong_absolute_file(const std::string& value);
std::string wrong_client_address(const std::string& value);
std::string wrong_admin_address(const std::string& value);
std::string wrong_link_address(const std::string& value);
std::string wrong_bulk_address(const std::string& value);
std::string wrong_neighbour_address(const std::string& value);
std::string wrong_group_pattern(const std::string& value);
/// Of names, or groups: any bytes.
std::string wrong_pattern(const std::string& value);
std::string wrong_identity(const std::string& value);
std::string wrong_token_name(const std::string& value);
/// What it says never holds the value, which may be a token.
std::string wrong_token_digest(const std::string& value);

}  // namespace spindled
